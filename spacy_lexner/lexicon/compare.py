"""How two lexicons differ."""

from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from .entry import LexiconEntry
from .lexicon import Lexicon
from .rules import Rules
from .strings import Strings, empty_strings
from .table import Table

FIELDS = ("weight", "label", "entity_id", "vector", "rules")
CHUNK = 1 << 16


class LexiconDiff(NamedTuple):
    """The differences between two lexicons. Entries are read when they are asked for.

    old (Table), new (Table): What is known about the words of both.
    removed (numpy.ndarray): int64[n], rows of the old lexicon whose words the new one does not have.
    added (numpy.ndarray): int64[n], rows of the new lexicon whose words the old one did not have.
    changed (Dict[str, numpy.ndarray]): For each of FIELDS int64[n, 2], the old and the new row of the words that differ
        in it.
    """

    old: Table
    new: Table
    removed: np.ndarray
    added: np.ndarray
    changed: Dict[str, np.ndarray]

    @property
    def changed_rows(self) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n, 2], old and new row of the words that differ in anything."""
        rows = np.concatenate(list(self.changed.values()))
        return np.unique(rows, axis=0) if len(rows) else rows

    @property
    def empty(self) -> bool:
        """RETURNS (bool): Whether the lexicons hold the same."""
        return not (len(self.removed) or len(self.added) or any(map(len, self.changed.values())))

    def changes(self) -> Iterator[Tuple[LexiconEntry, LexiconEntry]]:
        """YIELDS (Tuple[LexiconEntry, LexiconEntry]): What was and what is known about each changed word."""
        for old, new in self.changed_rows.tolist():
            yield self.old.entry(old), self.new.entry(new)


def compare(old: Lexicon, new: Lexicon) -> LexiconDiff:
    """Find the words that only one of two lexicons has, and those about which they know different things. Vectors are
    compared in the smaller of both types.

    old (Lexicon), new (Lexicon): The lexicons.
    RETURNS (LexiconDiff): The differences.
    """
    a, b = old.table, new.table
    _, rows_a, rows_b = np.intersect1d(a.hashes, b.hashes, assume_unique=True, return_indices=True)
    removed = np.setdiff1d(np.arange(a.size), rows_a, assume_unique=True)
    added = np.setdiff1d(np.arange(b.size), rows_b, assume_unique=True)
    if a.vectors.dtype == b.vectors.dtype:  # then what is known about a word has one hash
        differ = a.contents[rows_a] != b.contents[rows_b]
        rows_a, rows_b = rows_a[differ], rows_b[differ]
    same = {
        "weight": _weights(a, rows_a) == _weights(b, rows_b),
        "label": _same_strings(_strings(a.labels, a.size, rows_a), _strings(b.labels, b.size, rows_b)),
        "entity_id": _same_strings(_strings(a.entity_ids, a.size, rows_a), _strings(b.entity_ids, b.size, rows_b)),
        "vector": _same_vectors(a, rows_a, b, rows_b),
        "rules": _same_strings(_strings(a.rules, a.size, rows_a), _strings(b.rules, b.size, rows_b)),
    }
    pairs = np.stack([rows_a, rows_b], 1)
    return LexiconDiff(a, b, removed, added, {field: pairs[~same[field]] for field in FIELDS})


def describe_change(old: LexiconEntry, new: LexiconEntry) -> str:
    """RETURNS (str): What is different about a word, for people."""
    parts: List[str] = []
    if old.weight != new.weight:
        parts.append(f"weight {old.weight:g} → {new.weight:g}")
    if old.label != new.label:
        parts.append(f"label {old.label or 'none'} → {new.label or 'none'}")
    if old.entity_id != new.entity_id:
        parts.append(f"entity id {old.entity_id or 'none'} → {new.entity_id or 'none'}")
    if (old.vector is None) != (new.vector is None):
        parts.append("vector lost" if new.vector is None else "vector gained")
    elif old.vector is not None and new.vector is not None and not np.array_equal(old.vector, new.vector):
        parts.append("another vector")
    if old.rules != new.rules:
        parts.append(f"rules {describe_rules(old.rules) or 'none'} → {describe_rules(new.rules) or 'none'}")
    return ", ".join(parts)


def describe_rules(rules: Rules) -> str:
    """RETURNS (str): Rules of a word, for people; empty if there are none."""
    return "; ".join(map(str, rules))


def _weights(table: Table, rows: np.ndarray) -> np.ndarray:
    return np.ones(len(rows), "f4") if table.weights is None else table.weights[rows]


def _strings(strings: Optional[Strings], size: int, rows: np.ndarray) -> Strings:
    return (empty_strings(size) if strings is None else strings).take(rows)


def _same_strings(a: Strings, b: Strings) -> np.ndarray:
    return np.fromiter((x == y for x, y in zip(a.all(), b.all())), bool, a.size)


def _same_vectors(a: Table, rows_a: np.ndarray, b: Table, rows_b: np.ndarray) -> np.ndarray:
    places_a, places_b = (
        np.full(len(rows), -1) if table.vector_rows is None else table.vector_rows[rows]
        for table, rows in ((a, rows_a), (b, rows_b))
    )
    same = (places_a < 0) & (places_b < 0)
    both = np.flatnonzero((places_a >= 0) & (places_b >= 0))
    if a.vectors.shape[1] == b.vectors.shape[1]:
        dtype = min(a.vectors.dtype, b.vectors.dtype, key=lambda dtype: dtype.itemsize)
        for chunk in (both[low : low + CHUNK] for low in range(0, len(both), CHUNK)):
            x, y = a.vectors[places_a[chunk]].astype(dtype), b.vectors[places_b[chunk]].astype(dtype)
            same[chunk] = (x == y).all(1)
    return same
