"""The compiled lexicon: columns, a sorted index of hashes, a trie."""

from dataclasses import dataclass
from typing import Optional

import numpy as np

from .entry import LexiconEntry
from .normalization import Normalization, to_codes
from .strings import to_offsets
from .table import Table
from .trie import Trie, build_trie


@dataclass(frozen=True, eq=False)
class LexiconBase:
    """A lexicon that never changes. Its arrays may be memory-mapped.

    table (Table): What is known about each word; `table.hashes` is left empty, see `hashes`.
    hashes (numpy.ndarray): uint64[n], the hashes of the words, ascending.
    rows (numpy.ndarray): int32[n], the row of each of these in the table.
    trie (Trie): The words; its word numbers are positions in `hashes`.
    normalization (Normalization): How words and texts are compared.
    max_word_length (int): The limit that the words were held to.
    longest (int): Length of the longest word.
    version (int): 64 bits from the content.
    """

    table: Table
    hashes: np.ndarray
    rows: np.ndarray
    trie: Trie
    normalization: Normalization
    max_word_length: int
    longest: int
    version: int

    def ranks(self, hashes: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n], positions in `hashes`, -1 where unknown."""
        if not len(self.hashes):
            return np.full(len(hashes), -1, "i8")
        ranks = np.searchsorted(self.hashes, hashes)
        known = self.hashes.take(ranks, mode="clip") == hashes
        return np.where(known, ranks, -1)

    def hash_of(self, words: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): uint64[n], the hashes of words that the trie has found."""
        return self.hashes.take(words, mode="clip") if len(self.hashes) else np.zeros(len(words), "u8")

    def entry(self, row: int) -> LexiconEntry:
        """RETURNS (LexiconEntry): What is known about the word of a row."""
        table = self.table
        vector: Optional[np.ndarray] = None
        if table.vector_rows is not None and table.vector_rows[row] >= 0:
            vector = np.array(table.vectors[table.vector_rows[row]])
        return LexiconEntry(
            table.words.get(row),
            vector,
            1.0 if table.weights is None else float(table.weights[row]),
            "" if table.labels is None else table.labels.get(row),
            "" if table.entity_ids is None else table.entity_ids.get(row),
        )


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
    ends = np.flatnonzero(codes == ord("\n"))
    lengths = np.diff(ends, prepend=-1) - 1
    trie = build_trie(codes[codes != ord("\n")], to_offsets(lengths), ranks)
    return LexiconBase(
        table=table._replace(hashes=np.zeros(0, "u8")),
        hashes=table.hashes[order],
        rows=order.astype("i4"),
        trie=trie,
        normalization=normalization,
        max_word_length=max_word_length,
        longest=int(lengths.max(initial=0)),
        version=int(table.contents.sum(dtype="u8")),
    )
