"""The vectors of words in a batch: from the lexicon, fine-tuned, or by the length of the word."""

import math
from typing import Any, Iterator, List, Literal, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...candidates.batch_words import BatchWords
from ...lexicon.level import Candidates
from ...lexicon.lexicon import Lexicon
from ...lexicon.limits import quote
from ...lexicon.matcher import Matcher
from ...tensors.convert import numpy_of, tensor_of
from .word_labels import LabelNumbers, load_labels, stack_labels

WordsFrom = Literal["frozen", "finetuned"]
MAX_LENGTH = 6  # longer words, and single characters, share one vector
MATCHED_AT_ONCE = 1000


class Words(NamedTuple):
    """The U distinct words of a batch."""

    vectors: Tensor  # float[U, D], from the lexicon; arbitrary where it has none
    known: Tensor  # bool[U], whether the lexicon has a vector
    lengths: Tensor  # int64[U], in characters
    tuned: Tensor  # int64[U], rows in the fine-tuned table; -1 for words that are not in it
    labels: Optional[Tensor] = None  # int64[U, K], their labels by number, 0 for none; None if the model reads none


class WordVectors(nn.Module):
    """Look up the vectors, of width D, of a batch's words, and the vector of the padding word.

    A word has the vector of the fine-tuned table if it is in it, else that of the lexicon, else one that is learned for
    all words of its length (the `<unk>` and `<unk2>` ... `<unk6>` of the authors' code). With `n_tuned` = 0 all words
    stay as the lexicon has them. The vectors of its labels, which start at zero, are added.
    """

    sparse = False  # whether the gradient of the fine-tuned table has only the rows of a batch
    tuned_hashes: Tensor

    def __init__(self, width: int, n_tuned: int = 0, n_labels: int = 0) -> None:
        super().__init__()
        bound = math.sqrt(3.0 / width)
        self.width = width
        self.padding = nn.Parameter(torch.empty(1, width).uniform_(-bound, bound))
        self.by_length = nn.Parameter(torch.empty(MAX_LENGTH, width).uniform_(-bound, bound))
        self.tuned = nn.Parameter(torch.empty(n_tuned, width).uniform_(-bound, bound))
        self.labels = nn.Parameter(torch.zeros(1 + n_labels, width)) if n_labels else None  # row 0 stays zero
        self.register_buffer("tuned_hashes", torch.zeros(n_tuned, dtype=torch.int64))

    def forward(self, words: Words) -> Tensor:
        """The vectors of the U distinct words, float[1 + U, D]; row 0 is the padding word, used for empty slots."""
        lengths = torch.where((words.lengths > 1) & (words.lengths <= MAX_LENGTH), words.lengths - 1, 0)
        vectors = torch.where(words.known.unsqueeze(-1), words.vectors, self.by_length[lengths])
        if len(self.tuned):
            tuned = F.embedding(words.tuned.clamp(min=0), self.tuned, sparse=self.sparse)
            vectors = torch.where((words.tuned >= 0).unsqueeze(-1), tuned, vectors)
        if self.labels is not None and words.labels is not None:
            vectors = vectors + F.embedding(words.labels, self.labels, padding_idx=0).sum(1)
        return torch.cat([self.padding, vectors.to(self.padding.dtype)])

    def start_from(self, lexicon: Lexicon, hashes: np.ndarray) -> None:
        """Start the fine-tuned words (uint64[n_tuned], ascending) from their vectors in a lexicon, those without one
        from random numbers."""
        vectors, known = lexicon.vectors(hashes)
        if known.any():  # a lexicon without vectors has no width
            self.tuned.data[tensor_of(known)] = tensor_of(vectors[known]).to(self.tuned)
        self.tuned_hashes.copy_(tensor_of(hashes.view("i8")))


class WordTable(NamedTuple):
    """The data a model needs to look up words."""

    width: int  # D, of the word vectors
    lexicon_width: int  # of the vectors of the lexicon used in training, 0 if it had none
    tuned_hashes: np.ndarray  # uint64[n], the fine-tuned words, ascending
    labels: Optional[LabelNumbers] = None  # None if the model reads no labels

    @classmethod
    def of(cls, words: Optional[WordVectors], settings: Mapping[str, Any]) -> "WordTable":
        """The table of a module's word vectors; `settings` are those of the module."""
        assert words is not None
        hashes, names = numpy_of(words.tuned_hashes).view("u8"), tuple(settings.get("labels", ()))
        return cls(words.width, settings["lexicon_width"], hashes, load_labels(names) if names else None)

    def look_up(self, lexicon: Lexicon, hashes: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Look up words by hash, uint64[n]: float32[n, D] vectors, bool[n] whether the lexicon has one, int64[n] rows
        among the fine-tuned words or -1. Raises ValueError if the lexicon's vectors differ in width from those of
        training; a lexicon without words is fine."""
        if len(lexicon) and lexicon.dim != self.lexicon_width:
            raise ValueError(
                f"The lexicon has vectors of {lexicon.dim} dimensions, but the model was trained with "
                f"{self.lexicon_width} (0 means no vectors). Give `lex_matcher` a lexicon like the one of training, or "
                "train the model again with this one."
            )
        vectors, known = np.zeros((len(hashes), self.width), "f4"), np.zeros(len(hashes), bool)
        if self.lexicon_width and lexicon.dim:
            vectors, known = lexicon.vectors(hashes)
        return vectors, known, find_rows(self.tuned_hashes, hashes)


def check_words(settings: Mapping[str, Any]) -> None:
    """Raise ValueError for settings of a module, see `WordTable.of`, with which no word can be looked up."""
    width, labels = settings.get("lexicon_width", 0), settings.get("labels", [])
    if type(width) is not int or not 0 <= width < 2**31:
        raise ValueError(f"lexicon_width is {quote(width)}; expected the width of vectors, or 0")
    if not isinstance(labels, (list, tuple)) or not all(isinstance(label, str) for label in labels):
        raise ValueError(f"the labels of words are {quote(labels)}; expected a list of texts")


def find_rows(table: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """The rows of hashes in an ascending table, int64[n]; -1 where it lacks them."""
    rows = np.searchsorted(table, hashes)
    found = rows < len(table)
    found[found] = table[rows[found]] == hashes[found]
    return np.where(found, rows, -1)


def number_words(chosen: np.ndarray, words: BatchWords, table: WordTable, device: torch.device) -> Tuple[Tensor, Words]:
    """Number the distinct words among some of a batch's, and look each up once. `chosen`, int[...], are words of the
    batch by number; below 0 is no word. Gives rows in the result of `WordVectors`, int64[...]: 1 and more for words, 0
    for none; and the distinct words."""
    rows = np.zeros(chosen.shape, "i8")
    places = np.flatnonzero(chosen >= 0)
    numbers = chosen.reshape(-1)[places]
    columns: Tuple[List[np.ndarray], ...] = ([], [], [], [])
    labels: List[np.ndarray] = []
    n_words = 0
    for i, lexicon in enumerate(words.lexicons):  # a word of two lexicons may have two vectors
        own = slice(None) if len(words.lexicons) == 1 else np.flatnonzero(words.sources[numbers] == i)
        hashes, distinct = np.unique(words.hashes[numbers[own]], return_inverse=True)
        rows.reshape(-1)[places[own]] = distinct + n_words + 1
        n_words += len(hashes)
        lengths = np.zeros(len(hashes), "i8")
        lengths[distinct] = words.lengths[numbers[own]]
        vectors, known, tuned = table.look_up(lexicon, hashes)
        for column, part in zip(columns, (vectors, known, lengths, tuned)):
            column.append(part)
        if table.labels is not None:
            labels.append(table.labels(lexicon, hashes))
    tensors = [tensor_of(np.concatenate(column), device) for column in columns]
    if table.labels is not None:
        tensors.append(tensor_of(stack_labels(labels), device))
    return tensor_of(rows, device), Words(*tensors)


def words_of_texts(matcher: Matcher, texts: Sequence[str]) -> np.ndarray:
    """The hashes of the lexicon words that occur in texts, uint64[n], ascending."""
    parts = [np.unique(found.hashes) for _, found, _ in match_in_parts(matcher, texts)]
    return np.unique(np.concatenate([np.zeros(0, "u8"), *parts]))


def match_in_parts(matcher: Matcher, texts: Sequence[str]) -> Iterator[Tuple[Sequence[str], Candidates, np.ndarray]]:
    """Match texts without holding the words of all. YIELDS (Tuple[Sequence[str], Candidates, numpy.ndarray]): Some
    texts, and what `Matcher.match` finds in them."""
    for begin in range(0, len(texts), MATCHED_AT_ONCE):
        part = texts[begin : begin + MATCHED_AT_ONCE]
        yield (part, *matcher.match(part))
