"""One level of a lexicon: compiled words, some of which may be hidden."""

from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Sequence

import numpy as np

from .entry import LexiconEntry
from .normalization import Normalization, to_codes
from .strings import to_offsets
from .table import Table
from .trie import Trie, build_trie


@dataclass(frozen=True, eq=False)
class Level:
    """Compiled words: columns, a sorted index of hashes, a trie. Its arrays may be memory-mapped and never change. A
    word's position in the index is its rank; a word that was removed, or that a newer level knows, is hidden.

    table (Table): What is known about each word; its hashes are empty, since `hashes` and `rows` hold them.
    hashes (numpy.ndarray): uint64[n], the hashes of the words, ascending.
    rows (numpy.ndarray): int32[n], the row of each rank in the table.
    trie (Trie): The words; its word numbers are ranks.
    normalization (Normalization): How words and texts are normalised.
    max_word_length (int): Longest word allowed.
    content (int): Sum of `table.contents`, modulo 2**64.
    hidden (numpy.ndarray): int64[n_hidden], ranks of the hidden words, ascending.
    """

    table: Table
    hashes: np.ndarray
    rows: np.ndarray
    trie: Trie
    normalization: Normalization
    max_word_length: int
    content: int
    hidden: np.ndarray = field(default_factory=lambda: np.zeros(0, "i8"))

    @property
    def size(self) -> int:
        """RETURNS (int): The number of visible words."""
        return len(self.rows) - len(self.hidden)

    def visible(self, ranks: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): bool[n], which ranks (-1 for none) are those of visible words."""
        if not len(self.hidden):
            return ranks >= 0
        place = np.searchsorted(self.hidden, ranks)
        return (ranks >= 0) & (self.hidden.take(place, mode="clip") != ranks)

    def ranks(self, hashes: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n], the ranks of words by their hashes; -1 where unknown or hidden."""
        if not len(self.hashes):
            return np.full(len(hashes), -1, "i8")
        ranks = np.searchsorted(self.hashes, hashes)
        known = self.hashes.take(ranks, mode="clip") == hashes
        return np.where(known & self.visible(ranks), ranks, -1)

    def hash_of(self, ranks: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): uint64[n], the hashes of words that the trie has found."""
        return self.hashes.take(ranks, mode="clip") if len(self.hashes) else np.zeros(len(ranks), "u8")

    def entry(self, rank: int) -> LexiconEntry:
        """RETURNS (LexiconEntry): What is known about the word of that rank."""
        return self.table.entry(int(self.rows[rank]))

    def without(self, ranks: np.ndarray) -> "Level":
        """RETURNS (Level): The same level with these words (int64[n] ranks, -1 for none) hidden too."""
        ranks = ranks[ranks >= 0]
        return replace(self, hidden=np.union1d(self.hidden, ranks)) if len(ranks) else self

    @cached_property
    def visible_rows(self) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n], the rows of the visible words, ascending."""
        visible = np.ones(len(self.rows), bool)
        visible[self.rows[self.hidden]] = False
        return np.flatnonzero(visible)

    def visible_table(self) -> Table:
        """RETURNS (Table): The columns of the visible words, with their hashes."""
        hashes = np.empty(len(self.rows), "u8")
        hashes[self.rows] = self.hashes
        table = self.table._replace(hashes=hashes)
        return table.take(self.visible_rows) if len(self.hidden) else table


def compile_level(table: Table, normalization: Normalization, max_word_length: int) -> Level:
    """Index the columns of a lexicon.

    table (Table): The columns, all words different.
    normalization (Normalization): The normalisation applied to the words.
    max_word_length (int): Longest word allowed.
    RETURNS (Level): The compiled words.
    """
    order = np.argsort(table.hashes)
    ranks = np.empty(len(order), "i4")
    ranks[order] = np.arange(len(order))
    codes = to_codes(table.words.data.tobytes().decode("utf8"))
    of_word = codes != ord("\n")
    lengths = np.diff(np.flatnonzero(~of_word), prepend=-1) - 1
    return Level(
        table=table._replace(hashes=np.zeros(0, "u8")),
        hashes=table.hashes[order],
        rows=order.astype("i4"),
        trie=build_trie(codes[of_word], to_offsets(lengths), ranks),
        normalization=normalization,
        max_word_length=max_word_length,
        content=int(table.contents.sum(dtype="u8")),
    )


def merge_levels(levels: Sequence[Level]) -> Level:
    """RETURNS (Level): The visible words of several levels as one, those of the first level first."""
    table = reduce(Table.concat, (level.visible_table() for level in levels))
    return compile_level(table, levels[0].normalization, levels[0].max_word_length)
