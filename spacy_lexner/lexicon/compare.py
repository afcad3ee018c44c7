"""Differences between two lexicons."""

from itertools import islice
from operator import eq
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from .entry import LexiconEntry
from .lexicon import Lexicon
from .rules import Rules
from .strings import Strings
from .table import ENTITY_IDS, LABELS, RULES, Table, vector_rows_of, weights_of

FIELDS = ("weight", "labels", "entity_id", "vector", "rules")
CHUNK = 1 << 16


class LexiconDiff(NamedTuple):
    """The differences between two lexicons, as rows of their tables. Entries are read on demand."""

    old: Table
    new: Table
    removed: np.ndarray  # int64[n], rows of words that only the old lexicon has
    added: np.ndarray  # int64[n], rows of words that only the new lexicon has
    changed: Dict[str, np.ndarray]  # for each of FIELDS int64[n, 2], old and new row of the words that differ in it

    @property
    def changed_rows(self) -> np.ndarray:
        """int64[n, 2], old and new row of the words that differ in any field."""
        rows = np.concatenate(list(self.changed.values()))
        return np.unique(rows, axis=0) if len(rows) else rows

    @property
    def empty(self) -> bool:
        return not (len(self.removed) or len(self.added) or any(map(len, self.changed.values())))

    def changes(self) -> Iterator[Tuple[LexiconEntry, LexiconEntry]]:
        """Yield the old and the new entry of each changed word."""
        for old, new in self.changed_rows.tolist():
            yield self.old.entry(old), self.new.entry(new)


def compare(old: Lexicon, new: Lexicon) -> LexiconDiff:
    """Find the words that only one of two lexicons has, and those whose entries differ. Vectors are compared in the
    smaller of the two dtypes."""
    a, b = old.table, new.table
    _, rows_a, rows_b = np.intersect1d(a.hashes, b.hashes, assume_unique=True, return_indices=True)
    removed = np.setdiff1d(np.arange(a.size), rows_a, assume_unique=True)
    added = np.setdiff1d(np.arange(b.size), rows_b, assume_unique=True)
    if a.vectors.dtype == b.vectors.dtype:  # then equal entries have equal hashes
        differ = a.contents[rows_a] != b.contents[rows_b]
        rows_a, rows_b = rows_a[differ], rows_b[differ]
    same = {
        "weight": weights_of(a)[rows_a] == weights_of(b)[rows_b],
        "labels": _same_strings(a.column(LABELS), rows_a, b.column(LABELS), rows_b),
        "entity_id": _same_strings(a.column(ENTITY_IDS), rows_a, b.column(ENTITY_IDS), rows_b),
        "vector": _same_vectors(a, rows_a, b, rows_b),
        "rules": _same_strings(a.column(RULES), rows_a, b.column(RULES), rows_b),
    }
    pairs = np.stack([rows_a, rows_b], 1)
    return LexiconDiff(a, b, removed, added, {field: pairs[~same[field]] for field in FIELDS})


def describe_diff(diff: LexiconDiff, limit: Optional[int] = None) -> Dict[str, Any]:
    """The differences, ready for JSON: `n_added`, `n_removed`, `n_changed`, `n_changed_by_field`; lists of words
    `added` and `removed`; `changed`, the differences by word. At most `limit` words of each kind are listed."""
    return {
        "n_added": len(diff.added),
        "n_removed": len(diff.removed),
        "n_changed": len(diff.changed_rows),
        "n_changed_by_field": {field: len(rows) for field, rows in diff.changed.items()},
        "added": [diff.new.words.get(row) for row in diff.added[:limit].tolist()],
        "removed": [diff.old.words.get(row) for row in diff.removed[:limit].tolist()],
        "changed": {old.word: describe_change(old, new) for old, new in islice(diff.changes(), limit)},
    }


def describe_change(old: LexiconEntry, new: LexiconEntry) -> str:
    """Describe what changed about a word; vectors are compared as in `compare`."""
    parts: List[str] = []
    if old.weight != new.weight:
        parts.append(f"weight {_format(old.weight)} → {_format(new.weight)}")
    if old.labels != new.labels:
        parts.append(f"labels {', '.join(old.labels) or 'none'} → {', '.join(new.labels) or 'none'}")
    if old.entity_id != new.entity_id:
        parts.append(f"entity id {old.entity_id or 'none'} → {new.entity_id or 'none'}")
    if (old.vector is None) != (new.vector is None):
        parts.append("vector lost" if new.vector is None else "vector gained")
    elif old.vector is not None and new.vector is not None:
        dtype = _smaller(old.vector.dtype, new.vector.dtype)
        if not np.array_equal(old.vector.astype(dtype), new.vector.astype(dtype)):
            parts.append("vector changed")
    if old.rules != new.rules:
        parts.append(f"rules {describe_rules(old.rules) or 'none'} → {describe_rules(new.rules) or 'none'}")
    return ", ".join(parts)


def describe_rules(rules: Rules) -> str:
    """Describe the rules of a word; empty if it has none."""
    return "; ".join(map(str, rules))


def _format(weight: float) -> str:
    """A weight, stored as float32, with as many digits as tell it from others: frequencies are large."""
    return np.format_float_positional(np.float32(weight), trim="-") if abs(weight) < 1e16 else f"{weight:g}"


def _smaller(a: np.dtype, b: np.dtype) -> np.dtype:
    return min(a, b, key=lambda dtype: dtype.itemsize)


def _same_strings(a: Strings, rows_a: np.ndarray, b: Strings, rows_b: np.ndarray) -> np.ndarray:
    return np.fromiter(map(eq, a.take(rows_a).all(), b.take(rows_b).all()), bool, len(rows_a))


def _same_vectors(a: Table, rows_a: np.ndarray, b: Table, rows_b: np.ndarray) -> np.ndarray:
    places_a, places_b = vector_rows_of(a)[rows_a], vector_rows_of(b)[rows_b]
    same = (places_a < 0) & (places_b < 0)
    both = np.flatnonzero((places_a >= 0) & (places_b >= 0))
    if a.vectors.shape[1] == b.vectors.shape[1]:
        dtype = _smaller(a.vectors.dtype, b.vectors.dtype)
        for chunk in (both[low : low + CHUNK] for low in range(0, len(both), CHUNK)):
            x, y = a.vectors[places_a[chunk]].astype(dtype), b.vectors[places_b[chunk]].astype(dtype)
            same[chunk] = (x == y).all(1)
    return same
