"""How a model knows words: by the vectors of the lexicon, or by its own table of fine-tuned ones."""

from typing import Dict, List, NamedTuple, Optional, Protocol, Sequence, Tuple

import numpy as np
import torch
from spacy.tokens import Doc

from ...candidates.lexicon_node import DocCandidates
from ...candidates.storage import token_borders
from ...lexicon.lexicon import Lexicon
from ...lexicon.matcher import Matcher
from .word_vectors import Words, WordVectors

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


class JoinedWords(NamedTuple):
    """The candidate words of a batch of Docs, whose tokens stand one after the other.

    first, last (numpy.ndarray): int64[n], first and last token of each, ascending by first, then by last.
    hashes (numpy.ndarray): uint64[n].
    lengths (numpy.ndarray): int64[n], in characters.
    source (numpy.ndarray): int64[n], which of the lexicons a candidate belongs to.
    lexicons (List[Lexicon]): The lexicons: one, unless it was swapped while the Docs were on their way.
    """

    first: np.ndarray
    last: np.ndarray
    hashes: np.ndarray
    lengths: np.ndarray
    source: np.ndarray
    lexicons: List[Lexicon]

    def numbered(self) -> "JoinedWords":
        """RETURNS (JoinedWords): The same words, numbered from 1; row 0 is no word."""
        arrays = (self.first, self.last, self.hashes, self.lengths, self.source)
        first, last, hashes, lengths, source = (np.concatenate([np.zeros(1, part.dtype), part]) for part in arrays)
        return JoinedWords(first, last, hashes, lengths, source, self.lexicons)


def join_words(docs: Sequence[Doc], candidates: Sequence[DocCandidates]) -> JoinedWords:
    """Put the candidate words of Docs together.

    docs (Sequence[Doc]): The Docs.
    candidates (Sequence[DocCandidates]): The candidates of each.
    RETURNS (JoinedWords): The words.
    """
    lexicons: Dict[int, Lexicon] = {}
    none = np.zeros(0, "i8")
    first, last, lengths, source = [none], [none], [none], [none]
    offset = 0
    for doc, found in zip(docs, candidates):
        lexicons.setdefault(id(found.lexicon), found.lexicon)
        first.append(found.first + offset)
        last.append(found.last + offset)
        begins, stops = token_borders(doc)
        lengths.append(stops[found.last] - begins[found.first])
        source.append(np.full(len(found.first), list(lexicons).index(id(found.lexicon)), "i8"))
        offset += len(doc)
    hashes = np.concatenate([none.astype("u8"), *(found.hashes for found in candidates)])
    first_, last_, lengths_, source_ = (np.concatenate(parts) for parts in (first, last, lengths, source))
    return JoinedWords(first_, last_, hashes, lengths_, source_, list(lexicons.values()))


class NumberedWords(Protocol):
    """Candidate words by number; row 0 is no word.

    hashes (numpy.ndarray): uint64[1 + n].
    lengths (numpy.ndarray): int64[1 + n], in characters.
    source (numpy.ndarray): int64[1 + n], which of the lexicons a candidate belongs to.
    lexicons (List[Lexicon]): The lexicons: one, unless it was swapped while the Docs were on their way.
    """

    @property
    def hashes(self) -> np.ndarray: ...
    @property
    def lengths(self) -> np.ndarray: ...
    @property
    def source(self) -> np.ndarray: ...
    @property
    def lexicons(self) -> List[Lexicon]: ...


def distinct_words(
    numbers: np.ndarray, words: NumberedWords, table: WordTable, device: torch.device
) -> Tuple[np.ndarray, Words]:
    """Number the distinct words of a batch from 1, and look each up once.

    numbers (numpy.ndarray): int[...], the candidates of the batch; 0 is none.
    words (NumberedWords): All candidates.
    table (WordTable): How the model knows words.
    device (torch.device): Where the tensors go.
    RETURNS (Tuple[numpy.ndarray, Words]): int64[...], the distinct word of each candidate, 0 for none; and the words.
    """
    used, inverse = np.unique(numbers, return_inverse=True)
    distinct = np.zeros(len(used), "i8")
    columns: Tuple[List[np.ndarray], ...] = ([], [], [], [])  # vectors, known, lengths, tuned
    n_words = 0
    for i, lexicon in enumerate(words.lexicons):
        own = np.flatnonzero((used > 0) & (words.source[used] == i))
        hashes, where, number = np.unique(words.hashes[used[own]], return_index=True, return_inverse=True)
        distinct[own] = number + n_words + 1
        n_words += len(hashes)
        vectors, known, tuned = table.look_up(lexicon, hashes)
        for column, part in zip(columns, (vectors, known, words.lengths[used[own]][where], tuned)):
            column.append(part)
    tensors = (torch.from_numpy(np.concatenate(column)).to(device) for column in columns)
    return distinct[inverse].reshape(numbers.shape), Words(*tensors)


def words_of_texts(matcher: Matcher, texts: Sequence[str]) -> np.ndarray:
    """Find the words that occur in texts.

    matcher (Matcher): The lexicon and the match options.
    texts (Sequence[str]): The texts.
    RETURNS (numpy.ndarray): uint64[n], the hashes of the words, ascending.
    """
    parts = [np.zeros(0, "u8")]
    for begin in range(0, len(texts), MATCHED_AT_ONCE):
        parts.append(np.unique(matcher.match(texts[begin : begin + MATCHED_AT_ONCE])[0].hashes))
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
