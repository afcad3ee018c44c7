"""Building a lexicon's columns from a stream of entries, which are never all in memory; invalid ones are skipped and
reported."""

from array import array
from dataclasses import dataclass, field
from typing import Dict, Iterable, List, Literal, Tuple

import numpy as np

from .entry import (
    REASONS,
    EntryStream,
    Labels,
    LexiconEntry,
    find_fault,
    hash_content,
    hash_word,
    join_labels,
    to_stored,
)
from .errors import LexiconError
from .limits import exceeded, limit, quote
from .normalization import Normalization
from .rules import normal_rules
from .table import Table, TableBuilder, VectorSpool

Dtype = Literal["float32", "float16"]
LINE_BITS = 40
MAX_PLACES = 10


@dataclass
class BuildReport:
    """The entries that were skipped while a lexicon was built."""

    source: str  # the files or streams that were read
    n_read: int = 0  # number of entries read
    skipped: Dict[str, int] = field(default_factory=dict)  # number skipped by reason (a key of REASONS)
    places: Dict[str, List[str]] = field(default_factory=dict)  # the first MAX_PLACES of each reason, as "file:line"
    by_file: Dict[str, "BuildReport"] = field(default_factory=dict, compare=False)  # skipped of each file; not saved
    n_trimmed: int = 0  # number of words whose leading or trailing white space was trimmed

    @property
    def n_skipped(self) -> int:
        """RETURNS (int): The number of entries skipped, not counting those whose label went to an earlier word."""
        return sum(self.skipped.values()) - self.skipped.get("label_added", 0)

    def skip(self, reason: str, place: str) -> None:
        """Count a skipped entry. `reason` is a key of REASONS, `place` "file:line"."""
        self._count(reason, place)
        file = place.rpartition(":")[0]
        self.by_file.setdefault(file, BuildReport(file))._count(reason, place)

    def _count(self, reason: str, place: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1
        places = self.places.setdefault(reason, [])
        if len(places) < MAX_PLACES:
            places.append(place)

    def __str__(self) -> str:
        lines = [f"{self.source}: {self.n_read} entries read, {self.n_skipped} skipped"]
        for reason, count in self.skipped.items():
            more = ", ..." if count > len(self.places[reason]) else ""
            lines.append(f"  {count} x {REASONS.get(reason, reason)}: {', '.join(self.places[reason])}{more}")
        if self.n_trimmed:
            lines.append(f"  {self.n_trimmed} x white space or invisible characters at the edges of a word: trimmed")
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
    report = BuildReport(stream.source)
    sources: List[str] = []
    places = array("Q")  # for each row the number of its source, and its line

    def skip(reason: str, place: str, word: str) -> None:
        if strict:
            raise LexiconError(f"{place}: {REASONS[reason]}: {quote(word)}. Correct it, or skip it (strict=False).")
        report.skip(reason, place)

    most = limit("entries")
    with VectorSpool(np.dtype(dtype)) as spool:
        builder = TableBuilder(spool)
        for entry in stream:
            report.n_read += 1
            if report.n_read > most:
                raise LexiconError(f"{stream.source}:{stream.line}: {exceeded('entries', 'more words')}")
            read, entry = entry, to_stored(entry, spool.dtype, normalization)
            fault = find_fault(entry, spool.dim, max_word_length)
            if fault is not None:
                skip(fault, f"{stream.source}:{stream.line}", read.word)
                continue
            report.n_trimmed += len(read.word) > len(entry.word)
            if entry.rules:
                entry = entry._replace(rules=normal_rules(entry.rules))
            if not sources or sources[-1] != stream.source:
                sources.append(stream.source)
            places.append((len(sources) - 1 << LINE_BITS) + stream.line)
            builder.append(entry, hash_word(entry.word), hash_content(entry))
        table = builder.finish()
    report.source = ", ".join(sources) or stream.source
    again, first = _find_duplicates(table.hashes)
    labels: Dict[int, Labels] = {}  # of rows that get the labels of their duplicates
    for row, winner in zip(again.tolist(), first.tolist()):
        source, line = divmod(places[row], 1 << LINE_BITS)
        place, known = f"{sources[source]}:{line}", labels.get(winner) or table.labels_of(winner)
        joined = join_labels(known, table.labels_of(row))
        if merge:
            _lend_vector(table, row, winner)
        if joined != known:
            labels[winner] = joined
            report.skip("label_added", place)
        elif merge:
            report.skip("duplicate", place)
        else:
            skip("duplicate", place, table.words.get(row))
    kept = np.delete(np.arange(table.size), again)
    return table.with_labels(labels).take(kept) if len(again) else table, report


def _find_duplicates(hashes: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """The rows whose hash an earlier row has, ascending, and for each the first row with that hash."""
    _, first, numbers = np.unique(hashes, return_index=True, return_inverse=True)
    first_of_row = first[numbers]
    again = np.flatnonzero(first_of_row != np.arange(len(hashes)))
    return again, first_of_row[again]


def _lend_vector(table: Table, row: int, winner: int) -> None:
    """Give a row's vector to an earlier row if that has none."""
    rows = table.vector_rows
    if rows is not None and rows[winner] < 0 <= rows[row]:
        rows[winner] = rows[row]
        table.contents[winner] = hash_content(table.entry(winner))
