"""The compiled lexicon: columns, a sorted index of hashes, a trie."""

from dataclasses import dataclass
from typing import Optional

import numpy as np

from .entry import LexiconEntry
from .hashing import hash_word
from .normalization import Normalization, to_codes
from .strings import to_offsets
from .table import Table
from .trie import Trie, build_trie


@dataclass(frozen=True, eq=False)
class LexiconBase:
    """A lexicon that never changes. Its arrays may be memory-mapped.

    table (Table): What is known about each word; its hashes are left empty, since `hashes` and `rows` hold them.
    hashes (numpy.ndarray): uint64[n], the hashes of the words, ascending.
    rows (numpy.ndarray): int32[n], the row of each of these in the table.
    trie (Trie): The words; its word numbers are positions in `hashes`.
    normalization (Normalization): How words and texts are compared.
    max_word_length (int): The limit that the words were held to.
    content (int): Sum of `table.contents`, modulo 2**64.
    """

    table: Table
    hashes: np.ndarray
    rows: np.ndarray
    trie: Trie
    normalization: Normalization
    max_word_length: int
    content: int

    @property
    def dim(self) -> int:
        """RETURNS (int): Width of the vectors; 0 if there are none."""
        return self.table.vectors.shape[1]

    def ranks(self, hashes: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n], positions in `hashes`, -1 where unknown."""
        if not len(self.hashes):
            return np.full(len(hashes), -1, "i8")
        ranks = np.searchsorted(self.hashes, hashes)
        return np.where(self.hashes.take(ranks, mode="clip") == hashes, ranks, -1)

    def rank(self, word: str) -> int:
        """RETURNS (int): Position of a word (normalised) in `hashes`, -1 if it is unknown."""
        return int(self.ranks(np.array([hash_word(word)], "u8"))[0])

    def entry_at(self, rank: int) -> LexiconEntry:
        """RETURNS (LexiconEntry): What is known about the word whose hash has that position."""
        return self.table.entry(int(self.rows[rank]))

    def hash_of(self, words: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): uint64[n], the hashes of words that the trie has found."""
        return self.hashes.take(words, mode="clip") if len(self.hashes) else np.zeros(len(words), "u8")

    def full_table(self, hidden: Optional[np.ndarray] = None) -> Table:
        """RETURNS (Table): The columns with their hashes, without the words at these positions (int64[m])."""
        hashes = np.empty(len(self.rows), "u8")
        hashes[self.rows] = self.hashes
        table = self.table._replace(hashes=hashes)
        if hidden is None or not len(hidden):
            return table
        keep = np.ones(len(hashes), bool)
        keep[self.rows[hidden]] = False
        return table.take(np.flatnonzero(keep))


def compile_base(table: Table, normalization: Normalization, max_word_length: int) -> LexiconBase:
    """Index the columns of a lexicon.

    table (Table): The columns, all words different.
    normalization (Normalization): The normalisation that was applied to the words.
    max_word_length (int): The limit that the words were held to.
    RETURNS (LexiconBase): The compiled lexicon.
    """
    order = np.argsort(table.hashes)
    ranks = np.empty(len(order), "i4")
    ranks[order] = np.arange(len(order))
    codes = to_codes(table.words.data.tobytes().decode("utf8"))
    of_word = codes != ord("\n")
    lengths = np.diff(np.flatnonzero(~of_word), prepend=-1) - 1
    return LexiconBase(
        table=table._replace(hashes=np.zeros(0, "u8")),
        hashes=table.hashes[order],
        rows=order.astype("i4"),
        trie=build_trie(codes[of_word], to_offsets(lengths), ranks),
        normalization=normalization,
        max_word_length=max_word_length,
        content=int(table.contents.sum(dtype="u8")),
    )
