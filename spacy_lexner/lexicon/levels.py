"""A compiled lexicon, and the changes to it.

Changes are levels of their own on top of the lexicon, each compiled when it comes. What a change costs depends on its
own size: it neither copies nor reads the words that stay as they are. A word is visible in one level only. Small levels
are merged as more come, so that there are few, each much smaller than the one below it (a log-structured merge tree,
O'Neil et al. 1996). The lexicon itself is never rewritten, however many words are added.
"""

from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .base import LexiconBase
from .build import hash_content, to_stored
from .checks import find_fault
from .entry import LexiconEntry
from .errors import LexiconError
from .hashing import hash_word
from .level import Level, merge_levels, to_level, whole
from .report import REASONS
from .rules import find_rule_fault, normal_rules
from .table import Table

GROWTH = 4  # a level of changes has at least so many times the words of the one above


class _Places(NamedTuple):
    """Where words are: for each level their positions in its hashes, -1 where it does not know them."""

    words: List[str]
    hashes: np.ndarray
    ranks: List[np.ndarray]


class Levels:
    """The levels of a lexicon, the lexicon itself first. Never changed itself: `with_words` and `without_words` give
    others.

    levels (Tuple[Level, ...]): The levels.
    content (int): Sum of the contents of all words, modulo 2**64.
    dim (int): Width of the vectors; 0 if there are none.
    """

    def __init__(self, levels: Sequence[Level], content: int, dim: int) -> None:
        self.levels = tuple(levels)
        self.content = content % 2**64
        self.dim = dim

    @classmethod
    def of(cls, base: LexiconBase) -> "Levels":
        """RETURNS (Levels): A compiled lexicon without changes."""
        return cls([whole(base)], base.content, base.dim)

    @property
    def base(self) -> LexiconBase:
        """RETURNS (LexiconBase): The lexicon that is changed."""
        return self.levels[0].base

    @property
    def changes(self) -> int:
        """RETURNS (int): How many words of the lexicon are hidden, and how many the levels above it have."""
        return len(self.levels[0].hidden) + sum(level.size for level in self.levels[1:])

    @property
    def size(self) -> int:
        """RETURNS (int): The number of words."""
        return sum(level.size for level in self.levels)

    def tables(self) -> Iterator[Tuple[Table, int]]:
        """YIELDS (Tuple[Table, int]): The columns of each level, hidden words included, and the number of its first
        row."""
        first = 0
        for level in self.levels:
            yield level.base.table, first
            first += len(level.base.rows)

    def rows(self, hashes: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n], the row of each word, counted over all levels; -1 where unknown."""
        rows = np.full(len(hashes), -1, "i8")
        for level, (_, first) in zip(self.levels, self.tables()):
            ranks = level.ranks(hashes)
            known = np.flatnonzero(ranks >= 0)
            rows[known] = level.base.rows[ranks[known]] + first
        return rows

    def get(self, word: str) -> Optional[LexiconEntry]:
        """RETURNS (Optional[LexiconEntry]): What is known about a word (normalised)."""
        hashes = np.array([hash_word(word)], "u8")
        for level in self.levels:
            rank = int(level.ranks(hashes)[0])
            if rank >= 0:
                return level.base.entry_at(rank)
        return None

    def folded(self) -> Table:
        """RETURNS (Table): The columns of all words."""
        first, *others = (level.table() for level in self.levels)
        for table in others:
            first = first.concat(table)
        return first

    def with_words(self, entries: Iterable[LexiconEntry]) -> "Levels":
        """Add entries, or change what is known about words. What an entry leaves out stays as it was.

        entries (Iterable[LexiconEntry]): The entries. Raises LexiconError for one that is unfit.
        RETURNS (Levels): The levels, with these.
        """
        given, dim = self._checked(entries)
        places = self._places(entry.word for entry in given)
        entries_before, before = self._known(places)
        known = dict(entries_before)
        for entry in given:
            known[entry.word] = _update(known.get(entry.word), entry)
        contents = {word: hash_content(known[word]) for word in places.words}
        changed = [i for i, word in enumerate(places.words) if contents[word] != before.get(word)]
        if not changed:
            return self
        words = [places.words[i] for i in changed]
        top = to_level([known[w] for w in words], places.hashes[changed], [contents[w] for w in words], self.base)
        lower = [level.without(ranks[changed]) for level, ranks in zip(self.levels, places.ranks)]
        difference = sum(contents[word] - before.get(word, 0) for word in words)
        return Levels(_merged([*lower, top]), self.content + difference, dim)

    def without_words(self, words: Iterable[str]) -> "Levels":
        """Take words out.

        words (Iterable[str]): The words; unknown ones are ignored.
        RETURNS (Levels): The levels, with these hidden.
        """
        places = self._places(self.base.normalization(word) for word in words)
        levels, content = [], self.content
        for level, ranks in zip(self.levels, places.ranks):
            there = ranks[ranks >= 0]
            content -= int(level.base.table.contents[level.base.rows[there]].sum(dtype="u8"))
            levels.append(level.without(there))
        return Levels(_merged(levels), content, self.dim)

    def _checked(self, entries: Iterable[LexiconEntry]) -> Tuple[List[LexiconEntry], int]:
        """RETURNS (Tuple[List[LexiconEntry], int]): The entries, normalised, and the width of vectors."""
        base, dim = self.base, self.dim
        normalization, dtype, max_word_length = base.normalization, base.table.vectors.dtype, base.max_word_length
        given: List[LexiconEntry] = []
        for entry in entries:
            vector = None
            if entry.vector is not None:
                vector = to_stored(entry.vector, dtype)
                entry = entry._replace(vector=vector)
            fault = find_fault(entry, dim, max_word_length)
            if fault is not None:
                raise LexiconError(_explain(fault, entry, vector, dim, max_word_length))
            dim = dim if vector is None else len(vector)
            word = normalization(entry.word)
            if word != entry.word or entry.weight != 1.0:
                entry = entry._replace(word=word, weight=float(np.float32(entry.weight)))
            given.append(entry)
        return given, dim

    def _places(self, words: Iterable[str]) -> _Places:
        distinct = list(dict.fromkeys(words))
        hashes = np.fromiter(map(hash_word, distinct), "u8", len(distinct))
        return _Places(distinct, hashes, [level.ranks(hashes) for level in self.levels])

    def _known(self, places: _Places) -> Tuple[Dict[str, LexiconEntry], Dict[str, int]]:
        """RETURNS (Tuple[Dict[str, LexiconEntry], Dict[str, int]]): What is known about words, and its hash."""
        known: Dict[str, LexiconEntry] = {}
        contents: Dict[str, int] = {}
        for level, ranks in zip(self.levels, places.ranks):
            there = np.flatnonzero(ranks >= 0)
            rows = level.base.rows[ranks[there]]
            words = [places.words[i] for i in there.tolist()]
            known.update(zip(words, map(level.base.table.entry, rows.tolist())))
            contents.update(zip(words, level.base.table.contents[rows].tolist()))
        return known, contents


def _merged(levels: List[Level]) -> List[Level]:
    """Merge levels above the lexicon until each is much larger than the one above it."""
    levels = [levels[0], *(level for level in levels[1:] if level.size)]
    while len(levels) > 2 and levels[-2].size < GROWTH * levels[-1].size:
        newer, older = levels.pop(), levels.pop()
        levels.append(merge_levels(older, newer))
    return levels


def _update(known: Optional[LexiconEntry], new: LexiconEntry) -> LexiconEntry:
    if known is None:
        return new._replace(rules=normal_rules(new.rules)) if new.rules else new
    return LexiconEntry(
        new.word,
        known.vector if new.vector is None else new.vector,
        known.weight if new.weight == 1.0 else new.weight,
        new.label or known.label,
        new.entity_id or known.entity_id,
        normal_rules(new.rules) if new.rules else known.rules,
    )


def _explain(fault: str, entry: LexiconEntry, vector: Optional[np.ndarray], dim: int, max_word_length: int) -> str:
    expected = {
        "bad_vector": f"the vectors have {dim or 'any number of'} dimensions, this one is "
        f"{'missing' if vector is None else list(vector.shape)}",
        "too_long": f"{len(entry.word)} characters, expected at most {max_word_length}",
        "bad_weight": f"the weight is {entry.weight}",
        "bad_rule": "; ".join(filter(None, map(find_rule_fault, entry.rules))),
    }
    detail = f" ({expected[fault]})" if fault in expected else ""
    return f"The entry {entry.word[:80]!r} cannot be added: {REASONS[fault]}{detail}."
