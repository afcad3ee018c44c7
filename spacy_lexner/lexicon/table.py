"""The columns of a lexicon, one row for each word."""

from typing import NamedTuple, Optional, Tuple

import numpy as np

from .entry import LexiconEntry
from .rules import unpack_rules
from .strings import Strings, empty_strings
from .vector_spool import VectorSpool


class Table(NamedTuple):
    """What is known about each word, in the order in which the words came.

    words (Strings): The words, normalised.
    hashes (numpy.ndarray): uint64[n], hash of each word.
    contents (numpy.ndarray): uint64[n], hash of everything that is known about each word; their sum is the version.
    weights (Optional[numpy.ndarray]): float32[n]; None if all are 1.
    labels (Optional[Strings]): None if no word has one.
    entity_ids (Optional[Strings]): None if no word has one.
    rules (Optional[Strings]): As `pack_rules` gives them; None if no word has any.
    vectors (numpy.ndarray): float16 or float32[n_vectors, dim].
    vector_rows (Optional[numpy.ndarray]): int32[n], which vector each word has, or -1; None if there are no vectors.
    """

    words: Strings
    hashes: np.ndarray
    contents: np.ndarray
    weights: Optional[np.ndarray]
    labels: Optional[Strings]
    entity_ids: Optional[Strings]
    rules: Optional[Strings]
    vectors: np.ndarray
    vector_rows: Optional[np.ndarray]

    @property
    def size(self) -> int:
        """RETURNS (int): The number of rows."""
        return self.words.size

    def entry(self, row: int) -> LexiconEntry:
        """RETURNS (LexiconEntry): What is known about the word of a row."""
        vector = None
        if self.vector_rows is not None and self.vector_rows[row] >= 0:
            vector = np.array(self.vectors[self.vector_rows[row]])
        return LexiconEntry(
            self.words.get(row),
            vector,
            1.0 if self.weights is None else float(self.weights[row]),
            "" if self.labels is None else self.labels.get(row),
            "" if self.entity_ids is None else self.entity_ids.get(row),
            () if self.rules is None else unpack_rules(self.rules.get(row)),
        )

    def take(self, rows: np.ndarray) -> "Table":
        """RETURNS (Table): These rows (int64[m]), in this order, with the vectors that they need."""
        vectors, vector_rows = self.vectors, self.vector_rows
        if vector_rows is not None:
            chosen = vector_rows[rows]
            used, renamed = np.unique(chosen[chosen >= 0], return_inverse=True)
            vector_rows = np.full(len(rows), -1, "i4")
            vector_rows[chosen >= 0] = renamed
            if len(used) < len(vectors):
                vectors = _spooled(vectors.dtype, (vectors, used)) if len(used) else vectors[:0]
        return Table(
            self.words.take(rows),
            self.hashes[rows],
            self.contents[rows],
            None if self.weights is None else self.weights[rows],
            None if self.labels is None else self.labels.take(rows),
            None if self.entity_ids is None else self.entity_ids.take(rows),
            None if self.rules is None else self.rules.take(rows),
            vectors,
            vector_rows if len(vectors) else None,
        )

    def concat(self, other: "Table") -> "Table":
        """RETURNS (Table): These rows, then the other ones."""
        return Table(
            self.words.concat(other.words),
            np.concatenate([self.hashes, other.hashes]),
            np.concatenate([self.contents, other.contents]),
            _concat_weights(self, other),
            _concat_strings(self.labels, self.size, other.labels, other.size),
            _concat_strings(self.entity_ids, self.size, other.entity_ids, other.size),
            _concat_strings(self.rules, self.size, other.rules, other.size),
            *_concat_vectors(self, other),
        )


def _concat_weights(a: Table, b: Table) -> Optional[np.ndarray]:
    if a.weights is None and b.weights is None:
        return None
    return np.concatenate([np.ones(t.size, "f4") if t.weights is None else t.weights for t in (a, b)])


def _concat_strings(a: Optional[Strings], n_a: int, b: Optional[Strings], n_b: int) -> Optional[Strings]:
    if a is None and b is None:
        return None
    return (a or empty_strings(n_a)).concat(b or empty_strings(n_b))


def _concat_vectors(a: Table, b: Table) -> Tuple[np.ndarray, Optional[np.ndarray]]:
    if b.vector_rows is None and a.vector_rows is None:
        return a.vectors if a.vectors.shape[1] else b.vectors, None
    rows_a, rows_b = (np.full(t.size, -1, "i4") if t.vector_rows is None else t.vector_rows for t in (a, b))
    rows_b = np.where(rows_b < 0, -1, rows_b + len(a.vectors)).astype("i4")
    every = [(table.vectors, np.arange(len(table.vectors))) for table in (a, b)]
    return _spooled(a.vectors.dtype, *every), np.concatenate([rows_a, rows_b])


def _spooled(dtype: np.dtype, *parts: Tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Gather rows of vectors, on disk if they are many."""
    with VectorSpool(dtype) as spool:
        for vectors, rows in parts:
            spool.extend(vectors, rows)
        return spool.finish()
