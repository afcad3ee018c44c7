"""The columns of a lexicon, one row for each word."""

from typing import NamedTuple, Optional

import numpy as np

from .strings import Strings, to_strings


class Table(NamedTuple):
    """What is known about each word, in the order in which the words came.

    words (Strings): The words, normalised.
    hashes (numpy.ndarray): uint64[n], hash of each word.
    contents (numpy.ndarray): uint64[n], hash of everything that is known about each word; their sum is the version.
    weights (Optional[numpy.ndarray]): float32[n]; None if all are 1.
    labels (Optional[Strings]): None if no word has one.
    entity_ids (Optional[Strings]): None if no word has one.
    vectors (numpy.ndarray): float16 or float32[n_vectors, dim].
    vector_rows (Optional[numpy.ndarray]): int32[n], which vector each word has, or -1; None if there are no vectors.
    """

    words: Strings
    hashes: np.ndarray
    contents: np.ndarray
    weights: Optional[np.ndarray]
    labels: Optional[Strings]
    entity_ids: Optional[Strings]
    vectors: np.ndarray
    vector_rows: Optional[np.ndarray]

    def take(self, rows: np.ndarray) -> "Table":
        """RETURNS (Table): These rows (int64[m]), in this order, with the vectors that they need."""
        vectors, vector_rows = self.vectors, self.vector_rows
        if vector_rows is not None:
            chosen = vector_rows[rows]
            used, renamed = np.unique(chosen[chosen >= 0], return_inverse=True)
            vector_rows = np.full(len(rows), -1, "i4")
            vector_rows[chosen >= 0] = renamed
            vectors = vectors if len(used) == len(vectors) else vectors[used]
        return Table(
            self.words.take(rows),
            self.hashes[rows],
            self.contents[rows],
            None if self.weights is None else self.weights[rows],
            None if self.labels is None else self.labels.take(rows),
            None if self.entity_ids is None else self.entity_ids.take(rows),
            vectors,
            vector_rows,
        )

    def concat(self, other: "Table") -> "Table":
        """RETURNS (Table): These rows, then the other ones."""
        return Table(
            self.words.concat(other.words),
            np.concatenate([self.hashes, other.hashes]),
            np.concatenate([self.contents, other.contents]),
            _concat_weights(self, other),
            _concat_strings(self.labels, len(self.hashes), other.labels, len(other.hashes)),
            _concat_strings(self.entity_ids, len(self.hashes), other.entity_ids, len(other.hashes)),
            *_concat_vectors(self, other),
        )


def _concat_weights(a: Table, b: Table) -> Optional[np.ndarray]:
    if a.weights is None and b.weights is None:
        return None
    parts = [np.ones(len(t.hashes), "f4") if t.weights is None else t.weights for t in (a, b)]
    return np.concatenate(parts)


def _concat_strings(a: Optional[Strings], n_a: int, b: Optional[Strings], n_b: int) -> Optional[Strings]:
    if a is None and b is None:
        return None
    return (a or to_strings([""] * n_a)).concat(b or to_strings([""] * n_b))


def _concat_vectors(a: Table, b: Table) -> "tuple[np.ndarray, Optional[np.ndarray]]":
    if a.vector_rows is None and b.vector_rows is None:
        return a.vectors, None
    parts = [np.full(len(t.hashes), -1, "i4") if t.vector_rows is None else t.vector_rows for t in (a, b)]
    shifted = np.where(parts[1] < 0, -1, parts[1] + len(a.vectors)).astype("i4")
    vectors = (
        b.vectors if not len(a.vectors) else a.vectors if not len(b.vectors) else np.concatenate([a.vectors, b.vectors])
    )
    return vectors, np.concatenate([parts[0], shifted])
