"""The candidate words of a batch of Docs on the units that an encoder reads (tokens, characters or wordpieces), and the
attention that tokens pay to them, as reported by encoders with `attrs["attend"]`."""

from itertools import pairwise
from typing import Dict, Iterable, List, NamedTuple, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc

from ..lexicon.level import Candidates
from ..lexicon.lexicon import Lexicon
from .storage import place_spans, token_borders

DocWords = Tuple[Candidates, Lexicon]  # the candidates of a Doc, and the lexicon that they come from


class BatchWords(NamedTuple):
    """Candidate words on the consecutive units of a batch of Docs, ordered by start, then by length."""

    starts: np.ndarray  # int64[n], first unit
    ends: np.ndarray  # int64[n], one past the last
    hashes: np.ndarray  # uint64[n]
    lengths: np.ndarray  # int64[n], in characters
    sources: np.ndarray  # int64[n], index of the word's lexicon in `lexicons`
    lexicons: List[Lexicon]  # one, unless it was swapped after some of the Docs were matched

    def take(self, index: np.ndarray) -> "BatchWords":
        """Select words by index (int64) or mask (bool)."""
        starts, ends, hashes, lengths, sources = (column[index] for column in self[:-1])
        return BatchWords(starts, ends, hashes, lengths, sources, self.lexicons)


def place_words(docs: Sequence[Doc], found: Sequence[DocWords], counts: np.ndarray) -> BatchWords:
    """Place the candidate words of Docs on units. Words that do not begin and end with units are left out.

    found (Sequence[Tuple[Candidates, Lexicon]]): For each Doc its candidates and their lexicon.
    counts (numpy.ndarray): int64[n_tokens], the units of each token, over all Docs; all 1 where tokens are units.
    RETURNS (BatchWords): The words of all Docs.
    """
    lexicons: Dict[int, Lexicon] = {id(lexicon): lexicon for _, lexicon in found}
    numbers = {key: i for i, key in enumerate(lexicons)}
    candidates = [part for part, _ in found]
    starts, ends, kept = place_spans(docs, candidates, counts)
    lengths = np.concatenate([np.zeros(0, "i8"), *(part.ends - part.starts for part in candidates)])
    hashes = np.concatenate([np.zeros(0, "u8"), *(part.hashes for part in candidates)])
    sources = np.repeat([numbers[id(lexicon)] for _, lexicon in found], [len(part.starts) for part in candidates])
    words = BatchWords(starts, ends, hashes, lengths, sources, list(lexicons.values()))
    return words if kept.all() else words.take(kept)


def expand_ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Concatenate the ranges `start, start + 1, ...` of these lengths: int64[sum of lengths]."""
    return np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)


class AttendedWords(NamedTuple):
    """The attention of a Doc's tokens to candidate words, one row per pair; rows of the same pair add up, and a pair
    without a row has no attention."""

    tokens: np.ndarray  # int64[n], the token that attends
    starts: np.ndarray  # int64[n], first token of the word
    ends: np.ndarray  # int64[n], one past its last
    weights: np.ndarray  # float64[n], from 0 to 1, the mean over layers, heads and the units of the token


def split_by_doc(parts: Iterable[AttendedWords], docs: Sequence[Doc]) -> List[AttendedWords]:
    """Split rows whose tokens are numbered over all Docs into the rows of each Doc, numbered by its own tokens."""
    none = np.zeros(0, "i8")
    columns = [np.concatenate(column) for column in zip(AttendedWords(none, none, none, none.astype("f8")), *parts)]
    order = np.argsort(columns[0], kind="stable")
    tokens, starts, ends, weights = (column[order] for column in columns)
    offsets = np.cumsum([0, *(len(doc) for doc in docs)])
    rows = np.searchsorted(tokens, offsets)
    return [
        AttendedWords(tokens[low:high] - offset, starts[low:high] - offset, ends[low:high] - offset, weights[low:high])
        for offset, (low, high) in zip(offsets.tolist(), pairwise(rows.tolist()))
    ]


def move_to_tokens(attended: AttendedWords, doc: Doc, unit_doc: Doc) -> AttendedWords:
    """Map attention on the tokens of the unit Doc to those of its Doc. Words that do not begin and end with tokens are
    left out."""
    if doc is unit_doc:
        return attended
    begins, stops = token_borders(doc)
    unit_begins, unit_stops = token_borders(unit_doc)
    own = np.searchsorted(begins, unit_begins, "right") - 1  # the token of each unit
    starts, ends = unit_begins[attended.starts], unit_stops[attended.ends - 1]
    first, last = np.searchsorted(begins, starts, "right") - 1, np.searchsorted(stops, ends, "left")
    tokens, weights = own[attended.tokens], attended.weights / np.bincount(own, minlength=1)[own[attended.tokens]]
    moved = AttendedWords(tokens, first, last + 1, weights)
    return AttendedWords(*(column[(begins[first] == starts) & (stops[last] == ends)] for column in moved))
