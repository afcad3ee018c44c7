"""A lexicon from a stream of entries. Invalid entries are skipped and reported; none is kept as a Python object."""

from array import array
from typing import Any, Dict, Iterable, List, Literal, Tuple

import numpy as np

from .entry import REASONS, EntryStream, LexiconEntry, find_fault, hash_content, hash_word, to_stored
from .errors import LexiconError
from .normalization import Normalization
from .rules import normal_rules
from .table import Table, TableBuilder, VectorSpool

Dtype = Literal["float32", "float16"]
LINE_BITS = 40
MAX_PLACES = 10


class BuildReport:
    """The entries that were skipped while a lexicon was built.

    source (str): What was read.
    n_read (int): Number of entries read.
    skipped (Dict[str, int]): How many were skipped, by reason (a key of REASONS).
    places (Dict[str, List[str]]): Where the first ten of these are, by reason, as "file:line".
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.n_read = 0
        self.skipped: Dict[str, int] = {}
        self.places: Dict[str, List[str]] = {}

    @property
    def n_skipped(self) -> int:
        """RETURNS (int): The number of entries skipped."""
        return sum(self.skipped.values())

    def skip(self, reason: str, place: str) -> None:
        """Count an entry skipped for a reason (a key of REASONS) at a place ("file:line")."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1
        places = self.places.setdefault(reason, [])
        if len(places) < MAX_PLACES:
            places.append(place)

    def to_json(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The report as JSON, for the manifest."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, state: Dict[str, Any]) -> "BuildReport":
        """RETURNS (BuildReport): The report from `to_json`."""
        report = cls(str(state["source"]))
        report.n_read = int(state["n_read"])
        report.skipped = {str(reason): int(count) for reason, count in state["skipped"].items()}
        report.places = {str(reason): list(places) for reason, places in state["places"].items()}
        return report

    def __str__(self) -> str:
        lines = [f"{self.source}: {self.n_read} entries read, {self.n_skipped} skipped"]
        for reason, count in self.skipped.items():
            more = ", ..." if count > len(self.places[reason]) else ""
            lines.append(f"  {count} x {REASONS.get(reason, reason)}: {', '.join(self.places[reason])}{more}")
        return "\n".join(lines)


def build_table(
    entries: Iterable[LexiconEntry],
    *,
    dtype: Dtype,
    normalization: Normalization,
    max_word_length: int,
    strict: bool = False,
    merge: bool = False,
) -> Tuple[Table, BuildReport]:
    """Collect entries into columns, and report those that were skipped. Arguments as for `Lexicon.from_entries`."""
    if dtype not in ("float32", "float16"):
        raise LexiconError(f'The dtype of vectors is {dtype!r}; expected "float32" or "float16".')
    stream = entries if isinstance(entries, EntryStream) else EntryStream("entries", enumerate(entries, 1))
    with VectorSpool(np.dtype(dtype)) as spool:
        checked = _CheckedBuilder(stream, spool, normalization, max_word_length, strict)
        for entry in stream:
            checked.add(entry)
        table = checked.finish()
    return checked.without_duplicates(table, merge), checked.report


class _CheckedBuilder:
    """Collects the valid entries of a stream into columns and reports the others."""

    def __init__(
        self, stream: EntryStream, spool: VectorSpool, normalization: Normalization, max_word_length: int, strict: bool
    ) -> None:
        self.report = BuildReport(stream.source)
        self._stream = stream
        self._spool = spool
        self._normalization = normalization
        self._max_word_length = max_word_length
        self._strict = strict
        self._builder = TableBuilder(spool)
        self._sources: List[str] = []
        self._places = array("Q")  # of each row, number of the source and line

    def add(self, entry: LexiconEntry) -> None:
        stream = self._stream
        self.report.n_read += 1
        entry = to_stored(entry, self._spool.dtype)
        reason = find_fault(entry, self._spool.dim, self._max_word_length)
        if reason is not None:
            self._skip(reason, f"{stream.source}:{stream.line}", entry.word)
            return
        word, rules = self._normalization(entry.word), normal_rules(entry.rules) if entry.rules else ()
        if word != entry.word or rules != entry.rules:
            entry = entry._replace(word=word, rules=rules)
        if not self._sources or self._sources[-1] != stream.source:
            self._sources.append(stream.source)
        self._places.append((len(self._sources) - 1 << LINE_BITS) + stream.line)
        self._builder.append(entry, hash_word(word), hash_content(entry))

    def _skip(self, reason: str, place: str, word: str) -> None:
        if self._strict:
            raise LexiconError(f"{place}: {REASONS[reason]}: {word[:80]!r}. Without `strict` it would be skipped.")
        self.report.skip(reason, place)

    def finish(self) -> Table:
        """All rows, duplicates included."""
        self.report.source = ", ".join(self._sources) or self._stream.source
        return self._builder.finish()

    def without_duplicates(self, table: Table, merge: bool) -> Table:
        """The first row of each word."""
        order = np.argsort(table.hashes, kind="stable")
        again = np.append(False, table.hashes[order[1:]] == table.hashes[order[:-1]])[: len(order)]
        if not again.any():
            return table
        first = order[np.maximum.accumulate(np.where(again, 0, np.arange(len(order))))]
        for row, winner in sorted(zip(order[again].tolist(), first[again].tolist())):
            source, line = divmod(self._places[row], 1 << LINE_BITS)
            place = f"{self._sources[source]}:{line}"
            if merge:
                _lend_vector(table, row, winner)
                self.report.skip("duplicate", place)
            else:
                self._skip("duplicate", place, table.words.get(row))
        keep = np.ones(len(order), bool)
        keep[order[again]] = False
        return table.take(np.flatnonzero(keep))


def _lend_vector(table: Table, row: int, winner: int) -> None:
    """Give the vector of a row to an earlier one that has none."""
    rows = table.vector_rows
    if rows is not None and rows[winner] < 0 <= rows[row]:
        rows[winner] = rows[row]
        table.contents[winner] = hash_content(table.entry(winner))
