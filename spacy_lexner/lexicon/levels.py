"""A compiled lexicon, and the changes to it.

Each change is compiled into a level on top of the lexicon. Its cost depends on its own size: words that stay as they
are are neither copied nor read. A word is visible in one level only. Small levels are merged as more are added, so that
there are few, each much smaller than the one below it (a log-structured merge tree, O'Neil et al. 1996). The lexicon
itself is never rewritten, however many words are added.
"""

from typing import Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from .entry import (
    REASONS,
    Labels,
    LexiconEntry,
    find_fault,
    hash_content,
    hash_word,
    join_labels,
    to_stored,
)
from .errors import LexiconError
from .level import Candidates, Level, compile_level, merge_levels
from .normalization import to_codes
from .rules import find_rule_fault, normal_rules
from .table import Table, TableBuilder, VectorSpool

GROWTH = 4  # a level of changes has at least this many times the words of the one above


class Levels:
    """The levels of a lexicon, the lexicon itself first. Immutable: `with_words` and `without_words` return new levels.
    Rows of words are counted over all levels, hidden words included. `content` is the sum of the contents of all
    visible words, modulo 2**64; `dim` the width of the vectors, 0 if there are none."""

    def __init__(self, levels: Sequence[Level], content: int, dim: int) -> None:
        self.levels = tuple(levels)
        self.content = content % 2**64
        self.dim = dim

    @classmethod
    def of(cls, base: Level) -> "Levels":
        """A compiled lexicon without changes."""
        return cls([base], base.content, base.table.vectors.shape[1])

    @property
    def base(self) -> Level:
        """The lexicon below all changes."""
        return self.levels[0]

    @property
    def changed(self) -> bool:
        return len(self.levels) > 1 or len(self.base.hidden) > 0

    @property
    def size(self) -> int:
        """The number of visible words."""
        return sum(level.size for level in self.levels)

    def merged(self) -> Level:
        """All visible words as one level."""
        return merge_levels(self.levels) if self.changed else self.base

    # Lookup

    def rows(self, hashes: np.ndarray) -> np.ndarray:
        """int64[n], the row of each word by its hash (uint64[n]); -1 where unknown."""
        rows = np.full(len(hashes), -1, "i8")
        for level, first in self._first_rows():
            ranks = level.ranks(hashes)
            known = np.flatnonzero(ranks >= 0)
            rows[known] = level.rows[ranks[known]] + first
        return rows

    def get(self, word: str) -> Optional[LexiconEntry]:
        """The entry of a normalised word, if known."""
        rows = self.rows(np.array([hash_word(word)], "u8"))
        return next((table.entry(row) for table, _, local in self._by_table(rows) for row in local.tolist()), None)

    def vectors(self, rows: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """The vectors of rows (int64[n]): float32[n, dim], zeros for none; bool[n], which rows have one."""
        vectors, known = np.zeros((len(rows), self.dim), "f4"), np.zeros(len(rows), bool)
        for table, place, local in self._by_table(rows):
            if table.vector_rows is not None:
                chosen = table.vector_rows[local]
                place, chosen = place[chosen >= 0], chosen[chosen >= 0]
                vectors[place] = table.vectors[chosen]
                known[place] = True
        return vectors, known

    def has_texts(self, name: str) -> bool:
        """Whether any word has texts of that name (see `Table`)."""
        return any(name in level.table.texts for level in self.levels)

    def texts(self, name: str, hashes: np.ndarray) -> Dict[int, str]:
        """The texts of the words that have any, by position in `hashes` (uint64[n])."""
        found: Dict[int, str] = {}
        for table, place, local in self._by_table(self.rows(hashes)) if self.has_texts(name) else ():
            if name in table.texts:
                filled = table.texts[name].filled(local)
                found.update(zip(place[filled].tolist(), map(table.texts[name].get, local[filled].tolist())))
        return found

    def all_texts(self, name: str) -> Iterator[Tuple[str, str]]:
        """The words that have texts of that name, each with its text."""
        for level in self.levels:
            if name in level.table.texts:
                column, rows = level.table.texts[name], level.visible_rows
                rows = rows[column.filled(rows)]
                yield from zip(level.table.words.take(rows).all(), column.take(rows).all())

    def match(self, text: str, min_length: int, max_length: Optional[int]) -> Candidates:
        """See `Lexicon.match`."""
        codes = self.base.normalization.codes(to_codes(text))
        found = [level.match(codes, min_length, max_length) for level in self.levels]
        if len(found) == 1:
            return found[0]
        together = Candidates(*map(np.concatenate, zip(*found)))
        return together.take(np.lexsort((together.ends, together.starts)))

    def _first_rows(self) -> Iterator[Tuple[Level, int]]:
        first = 0
        for level in self.levels:
            yield level, first
            first += len(level.rows)

    def _by_table(self, rows: np.ndarray) -> Iterator[Tuple[Table, np.ndarray, np.ndarray]]:
        """For each level, its columns, the positions in `rows` of its words, and their rows in it."""
        for level, first in self._first_rows():
            place = np.flatnonzero((rows >= first) & (rows < first + len(level.rows)))
            yield level.table, place, rows[place] - first

    # Changes

    def with_words(self, entries: Iterable[LexiconEntry]) -> "Levels":
        """See `Lexicon.with_words`."""
        given, dim = self._checked(entries)
        words, hashes, ranks = self._ranks(entry.word for entry in given)
        known, before = self._known(words, ranks)
        labels: Dict[str, Labels] = {}
        for entry in given:
            labels[entry.word] = own = join_labels(labels.get(entry.word, ()), entry.labels)
            known[entry.word] = _update(
                known.get(entry.word), entry if own == entry.labels else entry._replace(labels=own)
            )
        contents = [hash_content(known[word]) for word in words]
        changed = [i for i, word in enumerate(words) if contents[i] != before.get(word)]
        if not changed:
            return self
        with VectorSpool(self.base.table.vectors.dtype) as spool:
            builder = TableBuilder(spool)
            for i in changed:
                builder.append(known[words[i]], int(hashes[i]), contents[i])
            top = compile_level(builder.finish(), self.base.normalization, self.base.max_word_length)
        lower = [level.without(rank[changed]) for level, rank in zip(self.levels, ranks)]
        difference = sum(contents[i] - before.get(words[i], 0) for i in changed)
        return Levels(_merged([*lower, top]), self.content + difference, dim)

    def without_words(self, words: Iterable[str]) -> "Levels":
        """See `Lexicon.without_words`."""
        levels, content = [], self.content
        _, _, places = self._ranks(map(self.base.normalization.word, words))
        for level, ranks in zip(self.levels, places):
            known = ranks[ranks >= 0]
            content -= int(level.table.contents[level.rows[known]].sum(dtype="u8"))
            levels.append(level.without(known))
        return Levels(_merged(levels), content, self.dim)

    def _checked(self, entries: Iterable[LexiconEntry]) -> Tuple[List[LexiconEntry], int]:
        """The entries, normalised, and the width of the vectors."""
        base, dim = self.base, self.dim
        normalization, dtype, max_word_length = base.normalization, base.table.vectors.dtype, base.max_word_length
        given: List[LexiconEntry] = []
        for entry in entries:
            entry = to_stored(entry, dtype, normalization)
            fault = find_fault(entry, dim, max_word_length)
            if fault is not None:
                raise LexiconError(_explain(fault, entry, dim, max_word_length))
            dim = dim if entry.vector is None else len(entry.vector)
            if entry.weight != 1.0:
                entry = entry._replace(weight=float(np.float32(entry.weight)))
            given.append(entry)
        return given, dim

    def _ranks(self, words: Iterable[str]) -> Tuple[List[str], np.ndarray, List[np.ndarray]]:
        """The different ones of these words, their hashes, and their ranks in each level; -1 where it lacks them."""
        distinct = list(dict.fromkeys(words))
        hashes = np.fromiter(map(hash_word, distinct), "u8", len(distinct))
        return distinct, hashes, [level.ranks(hashes) for level in self.levels]

    def _known(
        self, words: Sequence[str], ranks: Sequence[np.ndarray]
    ) -> Tuple[Dict[str, LexiconEntry], Dict[str, int]]:
        """The entries of known words, and the hashes of their content."""
        known: Dict[str, LexiconEntry] = {}
        contents: Dict[str, int] = {}
        for level, rank in zip(self.levels, ranks):
            place = np.flatnonzero(rank >= 0)
            rows = level.rows[rank[place]]
            here = [words[i] for i in place.tolist()]
            known.update(zip(here, map(level.table.entry, rows.tolist())))
            contents.update(zip(here, level.table.contents[rows].tolist()))
        return known, contents


def _merged(levels: List[Level]) -> List[Level]:
    """Merge levels above the lexicon until each is much larger than the one above it."""
    levels = [levels[0], *(level for level in levels[1:] if level.size)]
    while len(levels) > 2 and levels[-2].size < GROWTH * levels[-1].size:
        levels[-2:] = [merge_levels(levels[-2:])]
    return levels


def _update(known: Optional[LexiconEntry], new: LexiconEntry) -> LexiconEntry:
    rules = normal_rules(new.rules) if new.rules else ()
    if known is None:
        return new._replace(rules=rules) if rules != new.rules else new
    return LexiconEntry(
        new.word,
        known.vector if new.vector is None else new.vector,
        known.weight if new.weight == 1.0 else new.weight,
        new.labels or known.labels,
        new.entity_id or known.entity_id,
        rules if new.rules else known.rules,
    )


def _explain(fault: str, entry: LexiconEntry, dim: int, max_word_length: int) -> str:
    shape = None if entry.vector is None else list(entry.vector.shape)
    details = {
        "bad_vector": f"expected {dim or 'any number of'} dimensions, got the shape {shape}",
        "too_long": f"{len(entry.word)} characters, expected at most {max_word_length}",
        "bad_weight": f"the weight is {entry.weight}",
        "bad_label": f"the labels are {entry.labels}",
        "bad_rule": "; ".join(filter(None, map(find_rule_fault, entry.rules))),
    }
    detail = f" ({details[fault]})" if fault in details else ""
    return f"The entry {entry.word[:80]!r} cannot be added: {REASONS[fault]}{detail}."
