"""Words added to a compiled lexicon and words taken out of it."""

from functools import cached_property
from typing import Dict, FrozenSet, Iterable, List, Optional

import numpy as np
from pygtrie import CharTrie

from .base import LexiconBase, compile_base
from .build import TableBuilder
from .entry import LexiconEntry
from .table import Table


class Overlay:
    """An editable trie of added entries, and the hidden words of the base. Never changed once made: `edited` copies.

    added (CharTrie): Word to LexiconEntry.
    hidden (FrozenSet[int]): Positions in the hashes of the base of words that were removed or replaced.
    """

    def __init__(
        self, base: LexiconBase, added: Optional[CharTrie] = None, hidden: FrozenSet[int] = frozenset()
    ) -> None:
        self.base = base
        self.added = CharTrie() if added is None else added
        self.hidden = hidden

    def __len__(self) -> int:
        return len(self.added) + len(self.hidden)

    def edited(
        self, add: Iterable[LexiconEntry] = (), remove: Iterable[str] = (), hide: Iterable[int] = ()
    ) -> "Overlay":
        """RETURNS (Overlay): A copy with these entries added, these added words removed and these base words hidden."""
        added = self.added.copy()
        for word in remove:
            added.pop(word, None)
        for entry in add:
            added[entry.word] = entry
        return Overlay(self.base, added, self.hidden.union(hide))

    @cached_property
    def compiled(self) -> LexiconBase:
        """RETURNS (LexiconBase): The added words, compiled."""
        base = self.base
        builder = TableBuilder(
            dtype=base.table.vectors.dtype.name,  # type: ignore[arg-type]
            normalization=base.normalization,
            max_word_length=base.max_word_length,
            strict=True,
            source="added words",
        )
        entries: List[LexiconEntry] = self.added.values()
        for number, entry in enumerate(entries, 1):
            builder.add(entry, number)
        return compile_base(builder.finish(), base.normalization, base.max_word_length)

    @cached_property
    def hidden_ranks(self) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n], the hidden words, ascending."""
        return np.array(sorted(self.hidden), "i8")

    def visible(self, ranks: np.ndarray) -> np.ndarray:
        """RETURNS (numpy.ndarray): bool[n], whether words of the base (positions in its hashes) are still there."""
        hidden = self.hidden_ranks
        if not len(hidden):
            return np.ones(len(ranks), bool)
        place = np.searchsorted(hidden, ranks)
        return hidden.take(place, mode="clip") != ranks

    def folded(self) -> Table:
        """RETURNS (Table): The columns of base and overlay together."""
        table = self.base.table
        n = len(self.base.rows)
        hashes = np.empty(n, "u8")
        hashes[self.base.rows] = self.base.hashes
        table = table._replace(hashes=hashes)
        if self.hidden:
            keep = np.ones(n, bool)
            keep[self.base.rows[self.hidden_ranks]] = False
            table = table.take(np.flatnonzero(keep))
        if not len(self.added):
            return table
        added = self.compiled
        order: Dict[str, np.ndarray] = {"hashes": np.empty(len(added.rows), "u8")}
        order["hashes"][added.rows] = added.hashes
        return table.concat(added.table._replace(hashes=order["hashes"]))
