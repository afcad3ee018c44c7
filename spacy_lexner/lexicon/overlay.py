"""Words added to a compiled lexicon, and words taken out of it."""

from functools import cached_property
from typing import Dict, FrozenSet, Iterable, Iterator, List, Optional, Tuple

import numpy as np
from pygtrie import CharTrie

from .base import LexiconBase, compile_base
from .build import build_table, hash_content, to_stored
from .checks import find_fault
from .entry import LexiconEntry
from .errors import LexiconError
from .hashing import hash_word
from .report import REASONS
from .rules import find_rule_fault, normal_rules
from .table import Table

UNKNOWN = -1  # what the base answers for a word that it does not hold


class Overlay:
    """The changes to a compiled lexicon. Never changed itself: `with_words` and `without_words` give another one, which
    costs as much as there are changes, however large the lexicon.

    base (LexiconBase): The lexicon that is changed.
    added (CharTrie): Word to LexiconEntry.
    hidden (FrozenSet[int]): Words of the base that were removed or replaced, as positions in its hashes.
    content (int): Sum of the contents of all words, those of the base included, modulo 2**64.
    dim (int): Width of the vectors; 0 if there are none.
    """

    def __init__(self, base: LexiconBase) -> None:
        """Create an overlay without changes.

        base (LexiconBase): The lexicon.
        """
        self.base = base
        self.added = CharTrie()
        self.hidden: FrozenSet[int] = frozenset()
        self.content = base.content
        self.dim = base.dim
        # The last compiled state of the added words, and the words that were added or taken out since. One attribute,
        # since threads read and set it. In the order in which they came: rows are to be the same in every process.
        self._compiled: Tuple[Optional[LexiconBase], Dict[str, None]] = (None, {})

    def _changed(
        self, added: CharTrie, hidden: FrozenSet[int], content: int, dim: int, words: Iterable[str]
    ) -> "Overlay":
        """RETURNS (Overlay): Another state of the changes, which differs from this one in some words."""
        overlay = Overlay(self.base)
        overlay.added, overlay.hidden, overlay.content, overlay.dim = added, hidden, content % 2**64, dim
        compiled, since = self._compiled
        overlay._compiled = (compiled, {**since, **dict.fromkeys(words)})
        return overlay

    def __len__(self) -> int:
        return len(self.added) + len(self.hidden)

    def get(self, word: str) -> Optional[LexiconEntry]:
        """RETURNS (Optional[LexiconEntry]): What is known about a word (normalised), here or in the base."""
        return self._entry(word, self.base.rank(word))

    def _entry(self, word: str, rank: int) -> Optional[LexiconEntry]:
        added = self.added.get(word)
        if added is not None or rank == UNKNOWN or rank in self.hidden:
            return added
        return self.base.entry_at(rank)

    def _ranks(self, words: Iterable[str]) -> Dict[str, int]:
        """RETURNS (Dict[str, int]): The positions of words in the hashes of the base, UNKNOWN for others."""
        distinct = list(dict.fromkeys(words))
        hashes = np.array([hash_word(word) for word in distinct], "u8")
        return dict(zip(distinct, self.base.ranks(hashes).tolist()))

    def with_words(self, entries: Iterable[LexiconEntry]) -> "Overlay":
        """Add entries, or change what is known about words. What an entry leaves out stays as it was.

        entries (Iterable[LexiconEntry]): The entries. Raises LexiconError for one that is unfit.
        RETURNS (Overlay): The changes, with these.
        """
        base, content, dim = self.base, self.content, self.dim
        given: List[LexiconEntry] = []
        for entry in entries:
            vector = None if entry.vector is None else to_stored(entry.vector, base.table.vectors.dtype)
            fault = find_fault(entry._replace(vector=vector), dim, base.max_word_length)
            if fault is not None:
                raise LexiconError(_explain(fault, entry, vector, dim, base.max_word_length))
            dim = dim if vector is None else len(vector)
            word, weight = base.normalization(entry.word), float(np.float32(entry.weight))
            given.append(LexiconEntry(word, vector, weight, entry.label, entry.entity_id, entry.rules))
        ranks = self._ranks(entry.word for entry in given)
        fresh: Dict[str, LexiconEntry] = {}
        for entry in given:
            word = entry.word
            known = fresh.get(word) or self._entry(word, ranks[word])
            new = _update(known, entry)
            change = hash_content(new) - (0 if known is None else hash_content(known))
            if change:
                fresh[word] = new
                content += change
        added = self.added.copy()
        added.update(fresh)
        hidden = self.hidden.union(ranks[word] for word in fresh) - {UNKNOWN}
        return self._changed(added, hidden, content, dim, fresh)

    def without_words(self, words: Iterable[str]) -> "Overlay":
        """Take words out.

        words (Iterable[str]): The words; unknown ones are ignored.
        RETURNS (Overlay): The changes, with these.
        """
        content, added = self.content, self.added.copy()
        ranks = self._ranks(self.base.normalization(word) for word in words)
        for word, rank in ranks.items():
            known = self._entry(word, rank)
            if known is not None:
                content -= hash_content(known)
                added.pop(word, None)
        hidden = self.hidden.union(ranks.values()) - {UNKNOWN}
        return self._changed(added, hidden, content, self.dim, ranks)

    @property
    def compiled(self) -> LexiconBase:
        """RETURNS (LexiconBase): The added words, compiled. Only those that changed since the last time are read."""
        base = self.base
        before, since = self._compiled
        if before is not None and not since:
            return before
        table, _ = build_table(
            (self.added[word] for word in since if word in self.added),
            dtype=base.table.vectors.dtype.name,  # type: ignore[arg-type]
            normalization=base.normalization,
            max_word_length=base.max_word_length,
            strict=True,
        )
        if before is not None:
            ranks = before.ranks(np.array([hash_word(word) for word in since], "u8"))
            table = before.full_table(ranks[ranks >= 0]).concat(table)
        compiled = compile_base(table, base.normalization, base.max_word_length)
        self._compiled = (compiled, {})
        return compiled

    @cached_property
    def hidden_ranks(self) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n], the hidden words, ascending."""
        return np.array(sorted(self.hidden), "i8")

    def visible(self, ranks: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): bool[n], whether words of the base (positions in its hashes) are still there."""
        if not self.hidden:
            return np.ones(len(ranks), bool)
        place = np.searchsorted(self.hidden_ranks, ranks)
        return self.hidden_ranks.take(place, mode="clip") != ranks

    def visible_rows(self) -> Iterator[bool]:
        """RETURNS (Iterator[bool]): Whether the word of each row of the base is still there."""
        visible = np.ones(len(self.base.rows), bool)
        visible[self.base.rows[self.hidden_ranks]] = False
        return iter(visible)

    def folded(self) -> Table:
        """RETURNS (Table): The columns of the base with the changes worked in."""
        table = self.base.full_table(self.hidden_ranks)
        return table.concat(self.compiled.full_table()) if self.added else table


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
