"""How a model knows words: by the vectors of the lexicon, or by its own table of fine-tuned ones."""

from typing import NamedTuple, Optional, Sequence, Tuple

import numpy as np
import torch

from ..lexicon.lexicon import Lexicon
from ..lexicon.matcher import Matcher
from ..modules.word_vectors import WordVectors

MATCHED_AT_ONCE = 1000


class WordTable(NamedTuple):
    """How a model knows words.

    width (int): Width D of the word vectors.
    lexicon_width (int): Width of the vectors of the lexicon that it was trained with, 0 if that had none.
    tuned_hashes (numpy.ndarray): uint64[n], the fine-tuned words, ascending.
    """

    width: int
    lexicon_width: int
    tuned_hashes: np.ndarray

    @classmethod
    def of(cls, words: Optional[WordVectors], lexicon_width: int) -> "WordTable":
        """words (Optional[WordVectors]): The word vectors of a module that reads words.
        lexicon_width (int): Width of the vectors of the lexicon that it was trained with.
        RETURNS (WordTable): How it knows words.
        """
        assert words is not None
        return cls(words.width, lexicon_width, words.tuned_hashes.cpu().numpy().view("u8"))

    def look_up(self, lexicon: Lexicon, hashes: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Look words up.

        lexicon (Lexicon): Where their vectors are.
        hashes (numpy.ndarray): uint64[n].
        RETURNS (Tuple[numpy.ndarray, ...]): float32[n, D] vectors, bool[n] whether the lexicon has one, int64[n] rows
            among the fine-tuned words or -1.
        """
        vectors, known = np.zeros((len(hashes), self.width), "f4"), np.zeros(len(hashes), bool)
        if self.lexicon_width and lexicon.dim:
            vectors, known = lexicon.vectors(hashes)
        rows = np.searchsorted(self.tuned_hashes, hashes)
        found = rows < len(self.tuned_hashes)
        found[found] = self.tuned_hashes[rows[found]] == hashes[found]
        return vectors, known, np.where(found, rows, -1)

    def check(self, lexicon: Lexicon) -> None:
        """Refuse a lexicon with vectors of another width.

        lexicon (Lexicon): The lexicon. One without any words does no harm.
        """
        if len(lexicon) and lexicon.dim != self.lexicon_width:
            raise ValueError(
                f"The lexicon has vectors of {lexicon.dim} dimensions, but the model was trained with "
                f"{self.lexicon_width} (0 means no vectors). Give `lex_matcher` a lexicon like the one of training, or "
                "train the model again with this one."
            )


def words_of_texts(matcher: Matcher, texts: Sequence[str]) -> np.ndarray:
    """Find the words that occur in texts.

    matcher (Matcher): The lexicon and the match options.
    texts (Sequence[str]): The texts.
    RETURNS (numpy.ndarray): uint64[n], the hashes of the words, ascending.
    """
    parts = [np.zeros(0, "u8")]
    for begin in range(0, len(texts), MATCHED_AT_ONCE):
        parts.append(np.unique(matcher.match(texts[begin : begin + MATCHED_AT_ONCE]).hash))
    return np.unique(np.concatenate(parts))


def start_from_lexicon(words: WordVectors, lexicon: Lexicon, hashes: np.ndarray) -> None:
    """Let fine-tuned words start from their vectors in the lexicon, those without one from random numbers.

    words (WordVectors): The word vectors of a module, with room for the fine-tuned words.
    lexicon (Lexicon): The lexicon.
    hashes (numpy.ndarray): uint64[n], the fine-tuned words, ascending.
    """
    vectors, known = lexicon.vectors(hashes)
    if known.any():  # a lexicon without vectors has no width
        words.tuned.data[torch.from_numpy(known)] = torch.from_numpy(vectors[known]).to(words.tuned)
    words.tuned_hashes.copy_(torch.from_numpy(hashes.view("i8")))
