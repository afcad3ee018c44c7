"""One level of a lexicon: compiled words, some of them hidden, and the search for them in a text."""

from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import NamedTuple, Optional, Sequence, Union

import numpy as np

from .normalization import Normalization, to_codes
from .strings import to_offsets
from .table import Table
from .trie import Trie, build_trie

TEXT_SEPARATOR = "\0"  # joins texts so that they can be matched as one; no word contains it


class Candidates(NamedTuple):
    """Lexicon words found in a text, ordered by start, then by length."""

    starts: np.ndarray  # int32[n] or int64[n], first character
    ends: np.ndarray  # int32[n] or int64[n], one past the last character
    hashes: np.ndarray  # uint64[n], hash of the word

    def take(self, index: Union[np.ndarray, slice]) -> "Candidates":
        """The candidates at an index: numbers, a mask or a slice."""
        return Candidates(*(column[index] for column in self))


@dataclass(frozen=True, eq=False)
class Level:
    """Compiled words: columns, a sorted index of hashes, and a trie. The arrays may be memory-mapped and never change.
    A word's position in the index is its rank. A word is hidden once it is removed or a newer level has it."""

    table: Table  # its hashes are empty: `hashes` and `rows` hold them
    hashes: np.ndarray  # uint64[n], ascending
    rows: np.ndarray  # int32[n], the row of each rank in the table
    trie: Trie  # its word numbers are ranks
    normalization: Normalization
    max_word_length: int
    content: int  # sum of `table.contents`, modulo 2**64
    hidden: np.ndarray = field(default_factory=lambda: np.zeros(0, "i8"))  # int64[n_hidden], ranks, ascending

    @property
    def size(self) -> int:
        """The number of visible words."""
        return len(self.rows) - len(self.hidden)

    def visible(self, ranks: np.ndarray) -> np.ndarray:
        """bool[n], which ranks (-1 for none) belong to visible words."""
        if not len(self.hidden):
            return ranks >= 0
        place = np.searchsorted(self.hidden, ranks)
        return (ranks >= 0) & (self.hidden.take(place, mode="clip") != ranks)

    def ranks(self, hashes: np.ndarray) -> np.ndarray:
        """int64[n], the ranks of words by their hashes; -1 where unknown or hidden."""
        if not len(self.hashes):
            return np.full(len(hashes), -1, "i8")
        ranks = np.searchsorted(self.hashes, hashes)
        known = self.hashes.take(ranks, mode="clip") == hashes
        return np.where(known & self.visible(ranks), ranks, -1)

    def hash_of(self, ranks: np.ndarray) -> np.ndarray:
        """uint64[n], the hashes of words that the trie found."""
        return self.hashes.take(ranks, mode="clip") if len(self.hashes) else np.zeros(len(ranks), "u8")

    def match(self, codes: np.ndarray, min_length: int, max_length: Optional[int]) -> Candidates:
        """The visible words in a normalised text (uint32[n] code points). Lengths as for `Lexicon.match`."""
        starts, ends, words = self.trie.match(codes, min_length, max_length)
        if len(self.hidden):
            visible = np.flatnonzero(self.visible(words))
            starts, ends, words = starts.take(visible), ends.take(visible), words.take(visible)
        return Candidates(starts, ends, self.hash_of(words))

    def without(self, ranks: np.ndarray) -> "Level":
        """The same level with these words (int64[n] ranks, -1 for none) also hidden."""
        ranks = ranks[ranks >= 0]
        return replace(self, hidden=np.union1d(self.hidden, ranks)) if len(ranks) else self

    @cached_property
    def visible_rows(self) -> np.ndarray:
        """int64[n], the rows of the visible words, ascending."""
        visible = np.ones(len(self.rows), bool)
        visible[self.rows[self.hidden]] = False
        return np.flatnonzero(visible)

    def visible_table(self) -> Table:
        """The columns of the visible words, with their hashes."""
        hashes = np.empty(len(self.rows), "u8")
        hashes[self.rows] = self.hashes
        table = self.table._replace(hashes=hashes)
        return table.take(self.visible_rows) if len(self.hidden) else table


def compile_level(table: Table, normalization: Normalization, max_word_length: int) -> Level:
    """Index the columns of a lexicon, whose words must be distinct and normalised."""
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
    """Merge the visible words of several levels into one level, those of the first level first."""
    table = reduce(Table.concat, (level.visible_table() for level in levels))
    return compile_level(table, levels[0].normalization, levels[0].max_word_length)
