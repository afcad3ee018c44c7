"""A lexicon from a stream of entries: what is wrong is skipped and counted, nothing is held as Python objects."""

from array import array
from hashlib import blake2b
from struct import Struct
from typing import Iterable, List, Literal, Tuple

import numpy as np

from .checks import find_fault
from .entry import LexiconEntry
from .errors import LexiconError
from .hashing import hash_word
from .normalization import Normalization
from .report import REASONS, BuildReport
from .rules import normal_rules, pack_rules
from .stream import EntryStream, to_stream
from .strings import StringsBuilder
from .table import Table
from .vector_spool import VectorSpool

Dtype = Literal["float32", "float16"]
FLOAT = Struct("<f")
LINE_BITS = 40


def build_table(
    entries: Iterable[LexiconEntry],
    *,
    dtype: Dtype,
    normalization: Normalization,
    max_word_length: int,
    strict: bool = False,
    merge: bool = False,
) -> Tuple[Table, BuildReport]:
    """Collect a stream of entries into columns. The first of equal words wins.

    entries (Iterable[LexiconEntry]): The entries; where they are an EntryStream, messages name its lines.
    dtype (str): "float32" or "float16", how vectors are stored.
    normalization (Normalization): Applied to the words.
    max_word_length (int): Longer words are skipped.
    strict (bool): Raise LexiconError for what would be skipped.
    merge (bool): Equal words are expected: a word without a vector takes that of the first equal word that has one.
    RETURNS (Tuple[Table, BuildReport]): The columns, and what was skipped.
    """
    if dtype not in ("float32", "float16"):
        raise LexiconError(f'The dtype of vectors is {dtype!r}; expected "float32" or "float16".')
    stream = to_stream(entries)
    with VectorSpool(np.dtype(dtype)) as spool:
        builder = _TableBuilder(stream, spool, normalization, max_word_length, strict)
        for entry in stream:
            builder.add(entry)
        table = builder.finish()
    return builder.without_duplicates(table, merge), builder.report


class _TableBuilder:
    """The columns while they grow, in flat arrays."""

    def __init__(
        self, stream: EntryStream, spool: VectorSpool, normalization: Normalization, max_word_length: int, strict: bool
    ) -> None:
        self.report = BuildReport(stream.source)
        self._stream = stream
        self._spool = spool
        self._normalization = normalization
        self._max_word_length = max_word_length
        self._strict = strict
        self._hashes, self._contents, self._weights, self._vector_rows = array("Q"), array("Q"), array("f"), array("i")
        self._words, self._labels, self._entity_ids, self._rules = (StringsBuilder() for _ in range(4))
        self._sources: List[str] = []
        self._places = array("Q")  # of each row, number of the source and line

    def add(self, entry: LexiconEntry) -> None:
        stream, spool = self._stream, self._spool
        word, vector, weight, label, entity_id, rules = entry
        self.report.n_read += 1
        if vector is not None:
            vector = to_stored(vector, spool.dtype)
            entry = entry._replace(vector=vector)
        reason = find_fault(entry, spool.dim, self._max_word_length)
        if reason is not None:
            self._skip(reason, f"{stream.source}:{stream.line}", word)
            return
        word = self._normalization(word)
        if not self._sources or self._sources[-1] != stream.source:
            self._sources.append(stream.source)
        self._places.append((len(self._sources) - 1 << LINE_BITS) + stream.line)
        self._hashes.append(hash_word(word))
        rules = normal_rules(rules) if rules else ()
        self._contents.append(hash_content(LexiconEntry(word, vector, weight, label, entity_id, rules)))
        self._words.append(word)
        self._weights.append(weight)
        self._labels.append(label)
        self._entity_ids.append(entity_id)
        self._rules.append(pack_rules(rules))
        self._vector_rows.append(-1 if vector is None else spool.append(vector))

    def _skip(self, reason: str, place: str, word: str) -> None:
        if self._strict:
            raise LexiconError(f"{place}: {REASONS[reason]}: {word[:80]!r}. Without `strict` it would be skipped.")
        self.report.skip(reason, place)

    def finish(self) -> Table:
        """RETURNS (Table): All rows, with duplicates."""
        self.report.source = ", ".join(self._sources) or self._stream.source
        weights = np.frombuffer(self._weights, "f4")
        labels, entity_ids, rules = self._labels.finish(), self._entity_ids.finish(), self._rules.finish()
        return Table(
            words=self._words.finish(),
            hashes=np.frombuffer(self._hashes, "u8"),
            contents=np.frombuffer(self._contents, "u8"),
            weights=weights if (weights != 1).any() else None,
            labels=labels if labels.any() else None,
            entity_ids=entity_ids if entity_ids.any() else None,
            rules=rules if rules.any() else None,
            vectors=self._spool.finish(),
            vector_rows=np.frombuffer(self._vector_rows, "i4") if self._spool.size else None,
        )

    def without_duplicates(self, table: Table, merge: bool) -> Table:
        """RETURNS (Table): The first row of each word."""
        order = np.argsort(table.hashes, kind="stable")
        again = np.append(False, table.hashes[order[1:]] == table.hashes[order[:-1]])[: len(order)]
        if not again.any():
            return table
        first = order[np.maximum.accumulate(np.where(again, 0, np.arange(len(order))))]
        pairs = sorted(zip(order[again].tolist(), first[again].tolist()))
        for row, winner in pairs:
            if merge:
                _lend_vector(table, row, winner)
                self.report.skip("duplicate", self._place(row))
            else:
                self._skip("duplicate", self._place(row), table.words.get(row))
        keep = np.ones(len(order), bool)
        keep[order[again]] = False
        return table.take(np.flatnonzero(keep))

    def _place(self, row: int) -> str:
        source, line = divmod(self._places[row], 1 << LINE_BITS)
        return f"{self._sources[source]}:{line}"


def _lend_vector(table: Table, row: int, winner: int) -> None:
    """Give the vector of a row to an earlier one that has none."""
    rows = table.vector_rows
    if rows is not None and rows[winner] < 0 <= rows[row]:
        rows[winner] = rows[row]
        table.contents[winner] = hash_content(table.entry(winner))


def to_stored(vector: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """RETURNS (numpy.ndarray): A vector in the type in which it is stored; too large a number becomes infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(vector).astype(dtype, copy=False)


def hash_content(entry: LexiconEntry) -> int:
    """Hash all that is known about a word; the version of a lexicon is the sum of these, whatever their order.

    entry (LexiconEntry): The entry, its vector in the type in which it is stored.
    RETURNS (int): 64 bits.
    """
    text = f"{entry.word}\0{entry.label}\0{entry.entity_id}\0{pack_rules(entry.rules)}".encode("utf8", "replace")
    vector = b"" if entry.vector is None else entry.vector.tobytes()
    return int.from_bytes(blake2b(text + FLOAT.pack(entry.weight) + vector, digest_size=8).digest(), "little")
