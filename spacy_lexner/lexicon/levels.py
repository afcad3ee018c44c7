"""Words in levels: a compiled lexicon, and the changes to it.

Each change is compiled into a level on top of the lexicon. It costs time and memory by its own size only: unchanged
words are neither copied nor read. A word is visible in one level only. Small levels are merged as more are added, so
that there are few, each much smaller than the one below it (a log-structured merge tree, O'Neil et al. 1996). The
lexicon itself is never rewritten, however many words are added. `changes` makes the levels of a changed lexicon.
"""

from typing import Dict, Iterator, Optional, Sequence, Set, Tuple

import numpy as np

from .entry import Labels, LexiconEntry, hash_word, unpack_labels
from .level import Candidates, Level, merge_levels
from .normalization import to_codes
from .rules import Rules, unpack_rules
from .table import LABELS, RULES, Table


class Levels:
    """Words in levels, and the lookup of their data. Immutable. Rows are numbered over all levels, hidden words
    included.

    levels (Tuple[Level, ...]): The levels, the lexicon without its changes first.
    normalization (Normalization): How words and texts are normalised.
    max_word_length (int): Longest word allowed.
    dim (int): Width of the vectors; 0 if there are none.
    content (int): The sum of the hashes of all entries, modulo 2**64.
    """

    def __init__(self, levels: Sequence[Level], content: int, dim: int) -> None:
        self.levels = tuple(levels)
        self.normalization, self.max_word_length = self.base.normalization, self.base.max_word_length
        self.content, self.dim = content % 2**64, dim

    @property
    def base(self) -> Level:
        """RETURNS (Level): The lexicon below all changes."""
        return self.levels[0]

    @property
    def changed(self) -> bool:
        """RETURNS (bool): Whether there are changes."""
        return len(self.levels) > 1 or len(self.base.hidden) > 0

    def merged(self) -> Level:
        """RETURNS (Level): All visible words as one level."""
        return merge_levels(self.levels) if self.changed else self.base

    # Words

    def hash(self, word: str) -> int:
        """RETURNS (int): The hash of a word after this lexicon's normalisation."""
        return hash_word(self.normalization.word(word))

    def get(self, word: str) -> Optional[LexiconEntry]:
        """RETURNS (Optional[LexiconEntry]): What is known about a word; None if it is not in the lexicon."""
        rows = self.rows(np.array([self.hash(word)], "u8"))
        return next((table.entry(row) for table, _, local in self._by_table(rows) for row in local.tolist()), None)

    def __len__(self) -> int:
        return sum(level.size for level in self.levels)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.rows(np.array([self.hash(word)], "u8"))[0] >= 0)

    def __iter__(self) -> Iterator[str]:
        for level in self.levels:
            words = level.table.words
            if len(level.hidden):
                yield from map(words.get, level.visible_rows.tolist())
            else:
                yield from words.all()

    def entries(self) -> Iterator[LexiconEntry]:
        """YIELDS (LexiconEntry): All entries, in the order of the words."""
        for level in self.levels:
            yield from map(level.table.entry, level.visible_rows.tolist())

    @property
    def table(self) -> Table:
        """RETURNS (Table): Everything known about all words, as columns."""
        return self.merged().visible_table()

    def rows(self, hashes: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n], the row of each word by its hash (uint64[n]), unique to the word; -1 where
        unknown."""
        hashes = np.asarray(hashes, "u8")
        rows, first = np.full(len(hashes), -1, "i8"), 0
        for level in self.levels:
            ranks = level.ranks(hashes)
            known = np.flatnonzero(ranks >= 0)
            rows[known] = level.rows[ranks[known]] + first
            first += len(level.rows)
        return rows

    def vectors(self, hashes: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """RETURNS (Tuple[numpy.ndarray, numpy.ndarray]): float32[n, dim], the vectors of word hashes (uint64[n]), zeros
        where a word has none; bool[n], which words have one."""
        vectors, known = np.zeros((len(hashes), self.dim), "f4"), np.zeros(len(hashes), bool)
        for table, place, local in self._by_table(self.rows(hashes)):
            if table.vector_rows is not None:
                chosen = table.vector_rows[local]
                place, chosen = place[chosen >= 0], chosen[chosen >= 0]
                vectors[place] = table.vectors[chosen]
                known[place] = True
        return vectors, known

    def _by_table(self, rows: np.ndarray) -> Iterator[Tuple[Table, np.ndarray, np.ndarray]]:
        """For each level, its columns, the positions in `rows` of its words, and their rows in it."""
        first = 0
        for level in self.levels:
            place = np.flatnonzero((rows >= first) & (rows < first + len(level.rows)))
            yield level.table, place, rows[place] - first
            first += len(level.rows)

    # Labels and rules

    @property
    def has_labels(self) -> bool:
        """RETURNS (bool): Whether any word has labels."""
        return self._has_texts(LABELS)

    def labels(self, hashes: np.ndarray) -> Dict[int, Labels]:
        """RETURNS (Dict[int, Tuple[str, ...]]): Labels of the words that have any, by position in the hashes
        (uint64[n])."""
        return {i: unpack_labels(text) for i, text in self._texts(LABELS, hashes).items()}

    def distinct_labels(self) -> Set[str]:
        """RETURNS (Set[str]): All labels that words have. This reads every word's labels."""
        texts = {text for _, text in self._all_texts(LABELS)}
        return {label for text in texts for label in unpack_labels(text)}

    @property
    def has_rules(self) -> bool:
        """RETURNS (bool): Whether any word has rules."""
        return self._has_texts(RULES)

    def rules(self, hashes: np.ndarray) -> Dict[int, Rules]:
        """RETURNS (Dict[int, Tuple[Rule, ...]]): Rules of the words that have any, by position in the hashes
        (uint64[n])."""
        return {i: unpack_rules(text) for i, text in self._texts(RULES, hashes).items()}

    def distinct_rules(self) -> Dict[Rules, str]:
        """RETURNS (Dict[Tuple[Rule, ...], str]): The distinct rules that words have, each with one of its words."""
        words = {text: word for word, text in self._all_texts(RULES)}
        return {unpack_rules(text): word for text, word in words.items()}

    def ruled_words(self) -> Iterator[LexiconEntry]:
        """YIELDS (LexiconEntry): The words that have rules, with their rules only."""
        return (LexiconEntry(word, rules=unpack_rules(text)) for word, text in self._all_texts(RULES))

    def _has_texts(self, name: str) -> bool:
        return any(name in level.table.texts for level in self.levels)

    def _texts(self, name: str, hashes: np.ndarray) -> Dict[int, str]:
        """The texts in a column of the words that have any, by position in `hashes`."""
        found: Dict[int, str] = {}
        for table, place, local in self._by_table(self.rows(hashes)) if self._has_texts(name) else ():
            if name in table.texts:
                filled = table.texts[name].filled(local)
                found.update(zip(place[filled].tolist(), map(table.texts[name].get, local[filled].tolist())))
        return found

    def _all_texts(self, name: str) -> Iterator[Tuple[str, str]]:
        """The words that have a text in that column, each with its text."""
        for level in self.levels:
            if name in level.table.texts:
                column, rows = level.table.texts[name], level.visible_rows
                rows = rows[column.filled(rows)]
                yield from zip(level.table.words.take(rows).all(), column.take(rows).all())

    # Matching

    def match(self, text: str, min_length: int = 1, max_length: Optional[int] = None) -> Candidates:
        """Find all words that occur in a text, overlapping.

        min_length (int): Shortest word to find.
        max_length (Optional[int]): Longest word to find; None for any.
        RETURNS (Candidates): The words, by their offsets in the text as given.
        """
        codes = self.normalization.codes(to_codes(text))
        found = [level.match(codes, min_length, max_length) for level in self.levels]
        if len(found) == 1:
            return found[0]
        together = Candidates(*map(np.concatenate, zip(*found)))
        key = (together.starts.astype("i8") << 32) | together.ends  # already sorted within each level: a linear merge
        return together.take(np.argsort(key, kind="stable"))
