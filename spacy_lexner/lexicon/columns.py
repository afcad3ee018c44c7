"""What is known about words, looked up over all levels of a lexicon. Words are given as `Levels.rows` numbers them."""

from typing import Dict, Iterator, Tuple

import numpy as np

from .entry import LexiconEntry
from .levels import Levels
from .rules import Rules, unpack_rules
from .table import Table


def vectors_of(levels: Levels, rows: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Look vectors up.

    levels (Levels): The levels.
    rows (numpy.ndarray): int64[n], words; -1 where unknown.
    RETURNS (Tuple[numpy.ndarray, numpy.ndarray]): float32[n, dim], a row of zeros where a word has no vector; bool[n],
        which words have one.
    """
    vectors, known = np.zeros((len(rows), levels.dim), "f4"), np.zeros(len(rows), bool)
    for table, place, local in _parts(levels, rows):
        if table.vector_rows is not None:
            chosen = table.vector_rows[local]
            place, chosen = place[chosen >= 0], chosen[chosen >= 0]
            vectors[place] = table.vectors[chosen]
            known[place] = True
    return vectors, known


def rules_of(levels: Levels, rows: np.ndarray) -> Dict[int, Rules]:
    """Look rules up.

    levels (Levels): The levels.
    rows (numpy.ndarray): int64[n], words; -1 where unknown.
    RETURNS (Dict[int, Tuple[Rule, ...]]): The positions in `rows` of those words that have rules, and these.
    """
    found: Dict[int, Rules] = {}
    for table, place, local in _parts(levels, rows):
        if table.rules is not None:
            ruled = table.rules.filled(local)
            texts = map(table.rules.get, local[ruled].tolist())
            found.update(zip(place[ruled].tolist(), map(unpack_rules, texts)))
    return found


def distinct_rules(levels: Levels) -> Dict[Rules, str]:
    """RETURNS (Dict[Tuple[Rule, ...], str]): The rules that words have, each once, and one of the words."""
    found: Dict[Rules, str] = {}
    for table, rows in _ruled(levels):
        assert table.rules is not None
        places = dict(zip(table.rules.take(rows).all(), rows.tolist()))
        found.update((unpack_rules(text), table.words.get(row)) for text, row in places.items())
    return found


def ruled_words(levels: Levels) -> Iterator[LexiconEntry]:
    """YIELDS (LexiconEntry): The words that have rules, each with these alone."""
    for table, rows in _ruled(levels):
        assert table.rules is not None
        for row in rows.tolist():
            yield LexiconEntry(table.words.get(row), rules=unpack_rules(table.rules.get(row)))


def _parts(levels: Levels, rows: np.ndarray) -> Iterator[Tuple[Table, np.ndarray, np.ndarray]]:
    """YIELDS (Tuple[Table, numpy.ndarray, numpy.ndarray]): The columns of each level, the positions in `rows` of its
    words, and their rows in it."""
    for table, first in levels.tables():
        place = np.flatnonzero((rows >= first) & (rows < first + table.size))
        yield table, place, rows[place] - first


def _ruled(levels: Levels) -> Iterator[Tuple[Table, np.ndarray]]:
    """YIELDS (Tuple[Table, numpy.ndarray]): The columns of each level with rules, and the rows of words that have
    some."""
    for level in levels.levels:
        table = level.base.table
        if table.rules is not None:
            yield table, level.rows[table.rules.filled(level.rows)]
