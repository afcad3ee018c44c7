"""One level of a lexicon: compiled words, some of which do not count any more."""

from functools import cached_property
from typing import List, Optional, Sequence

import numpy as np

from .base import LexiconBase, compile_base
from .entry import LexiconEntry
from .rules import pack_rules
from .strings import Strings, to_offsets
from .table import Table


class Level:
    """Compiled words without those that are hidden, because they were removed, or are known better by a newer level.

    base (LexiconBase): The compiled words.
    hidden (numpy.ndarray): int64[n], the hidden words, as positions in the hashes of the base, ascending.
    """

    def __init__(self, base: LexiconBase, hidden: np.ndarray) -> None:
        self.base = base
        self.hidden = hidden

    @property
    def size(self) -> int:
        """RETURNS (int): The number of words that are not hidden."""
        return len(self.base.rows) - len(self.hidden)

    def visible(self, ranks: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): bool[n], which positions in the hashes of the base are words that are not hidden."""
        if not len(self.hidden):
            return ranks >= 0
        place = np.searchsorted(self.hidden, ranks)
        return (ranks >= 0) & (self.hidden.take(place, mode="clip") != ranks)

    def ranks(self, hashes: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n], positions in the hashes of the base, -1 where unknown or hidden."""
        ranks = self.base.ranks(hashes)
        return np.where(self.visible(ranks), ranks, -1)

    def without(self, ranks: np.ndarray) -> "Level":
        """RETURNS (Level): The same with more words hidden; positions (int64[n]) below 0 are ignored."""
        ranks = ranks[ranks >= 0]
        return Level(self.base, np.union1d(self.hidden, ranks)) if len(ranks) else self

    @cached_property
    def rows(self) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n], the rows of its words, in order."""
        there = np.ones(len(self.base.rows), bool)
        there[self.base.rows[self.hidden]] = False
        return np.flatnonzero(there)

    def table(self) -> Table:
        """RETURNS (Table): The columns of its words."""
        return self.base.full_table(self.hidden)


def merge_levels(older: Level, newer: Level) -> Level:
    """RETURNS (Level): The words of two levels, those of the older one first."""
    base = older.base
    table = older.table().concat(newer.table())
    return whole(compile_base(table, base.normalization, base.max_word_length))


def whole(base: LexiconBase) -> Level:
    """RETURNS (Level): A level without hidden words."""
    return Level(base, np.zeros(0, "i8"))


def to_level(entries: Sequence[LexiconEntry], hashes: np.ndarray, contents: Sequence[int], like: LexiconBase) -> Level:
    """Compile words.

    entries (Sequence[LexiconEntry]): The entries, all different, checked and normalised.
    hashes (numpy.ndarray): uint64[n], the hash of each word.
    contents (Sequence[int]): The hash of what is known about each.
    like (LexiconBase): The lexicon that they belong to.
    RETURNS (Level): The words.
    """
    vectors = [entry.vector for entry in entries if entry.vector is not None]
    vector_rows = np.full(len(entries), -1, "i4")
    vector_rows[[entry.vector is not None for entry in entries]] = np.arange(len(vectors))
    weights = np.array([entry.weight for entry in entries], "f4")
    table = Table(
        words=_to_strings([entry.word for entry in entries]),
        hashes=hashes,
        contents=np.array(contents, "u8"),
        weights=weights if (weights != 1).any() else None,
        labels=_to_column([entry.label for entry in entries]),
        entity_ids=_to_column([entry.entity_id for entry in entries]),
        rules=_to_column([pack_rules(entry.rules) for entry in entries]),
        vectors=np.stack(vectors) if vectors else np.zeros((0, 0), like.table.vectors.dtype),
        vector_rows=vector_rows if vectors else None,
    )
    return whole(compile_base(table, like.normalization, like.max_word_length))


def _to_column(strings: List[str]) -> Optional[Strings]:
    return _to_strings(strings) if any(strings) else None


def _to_strings(strings: List[str]) -> Strings:
    lines = [string.encode("utf8", "replace") + b"\n" for string in strings]
    data = np.frombuffer(bytearray(b"".join(lines)), "u1")
    return Strings(data, to_offsets(np.fromiter(map(len, lines), "i8", len(lines))))
