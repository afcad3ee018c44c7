"""A lexicon from a stream of entries: what is wrong is skipped and counted, nothing is held as Python objects."""

import tempfile
from array import array
from hashlib import blake2b
from typing import Iterable, Literal, Optional, Tuple

import numpy as np

from .entry import LexiconEntry
from .errors import LexiconError
from .hashing import hash_word
from .normalization import Normalization
from .report import REASONS, BuildReport
from .strings import Strings, to_offsets
from .table import Table

Dtype = Literal["float32", "float16"]


class TableBuilder:
    """Collects entries into the columns of a lexicon.

    report (BuildReport): What was skipped so far.
    """

    def __init__(
        self, *, dtype: Dtype, normalization: Normalization, max_word_length: int, strict: bool, source: str = "entries"
    ) -> None:
        """Create a builder.

        dtype (str): "float32" or "float16", how vectors are stored.
        normalization (Normalization): Applied to the words.
        max_word_length (int): Longer words are skipped.
        strict (bool): Raise LexiconError for what would be skipped.
        source (str): What is read, for messages.
        """
        if dtype not in ("float32", "float16"):
            raise LexiconError(f'The dtype of vectors is {dtype!r}; expected "float32" or "float16".')
        self.report = BuildReport(source)
        self._dtype = np.dtype(dtype)
        self._normalization = normalization
        self._max_word_length = max_word_length
        self._strict = strict
        self._dim: Optional[int] = None
        self._hashes, self._contents, self._lines = array("Q"), array("Q"), array("Q")
        self._words, self._labels, self._entity_ids = _Lines(), _Lines(), _Lines()
        self._weights = array("f")
        self._vector_rows = array("i")
        self._n_vectors = 0
        self._file = tempfile.TemporaryFile()

    def add(self, entry: LexiconEntry, line: int) -> None:
        """Take an entry in, or count why not.

        entry (LexiconEntry): The entry.
        line (int): Where it stands, for the report.
        """
        self.report.n_read += 1
        vector = None if entry.vector is None else np.asarray(entry.vector).astype(self._dtype).ravel()
        reason = self._fault(entry, vector)
        if reason is not None:
            self._skip(reason, line, entry.word)
            return
        word = self._normalization(entry.word)
        self._hashes.append(hash_word(word))
        self._contents.append(hash_content(entry._replace(word=word, vector=vector)))
        self._lines.append(line)
        self._words.append(word)
        self._labels.append(entry.label)
        self._entity_ids.append(entry.entity_id)
        self._weights.append(entry.weight)
        if vector is None:
            self._vector_rows.append(-1)
        else:
            self._dim = len(vector)
            self._vector_rows.append(self._n_vectors)
            self._n_vectors += 1
            self._file.write(vector.tobytes())

    def _fault(self, entry: LexiconEntry, vector: Optional[np.ndarray]) -> Optional[str]:
        word = entry.word
        if not word or "\0" in word or word.split() != [word]:
            return "empty" if not word else "nul" if "\0" in word else "white_space"
        if len(word) > self._max_word_length:
            return "too_long"
        if not word.isascii() and any("\ud800" <= char <= "\udfff" for char in word):
            return "not_unicode"
        if vector is not None and (len(vector) != (self._dim or len(vector)) or not np.isfinite(vector).all()):
            return "bad_vector"
        if vector is not None and not len(vector):
            return "bad_vector"
        if not np.isfinite(entry.weight):
            return "bad_weight"
        return None

    def _skip(self, reason: str, line: int, word: str) -> None:
        if self._strict:
            raise LexiconError(f"{self.report.source}:{line}: {REASONS[reason]}: {word[:80]!r}.")
        self.report.skip(reason, line)

    def finish(self) -> Table:
        """RETURNS (Table): The columns, without duplicates."""
        n = len(self._hashes)
        labels, entity_ids = self._labels.strings(), self._entity_ids.strings()
        weights = np.frombuffer(self._weights, "f4", n)
        table = Table(
            words=self._words.strings(),
            hashes=np.frombuffer(self._hashes, "u8", n),
            contents=np.frombuffer(self._contents, "u8", n),
            weights=weights if (weights != 1).any() else None,
            labels=labels if len(labels.data) > n else None,
            entity_ids=entity_ids if len(entity_ids.data) > n else None,
            vectors=self._vectors(),
            vector_rows=np.frombuffer(self._vector_rows, "i4", n) if self._n_vectors else None,
        )
        return self._without_duplicates(table)

    def _vectors(self) -> np.ndarray:
        self._file.flush()
        shape = (self._n_vectors, self._dim or 0)
        vectors = (
            np.memmap(self._file, self._dtype, "r", shape=shape) if self._n_vectors else np.zeros(shape, self._dtype)
        )
        self._file.close()
        return vectors

    def _without_duplicates(self, table: Table) -> Table:
        order = np.argsort(table.hashes, kind="stable")
        same = table.hashes[order[1:]] == table.hashes[order[:-1]]
        if not same.any():
            return table
        keep = np.ones(len(order), bool)
        keep[order[1:][same]] = False
        for row in np.flatnonzero(~keep).tolist():
            self._skip("duplicate", self._lines[row], table.words.get(row))
        return table.take(np.flatnonzero(keep))


class _Lines:
    """Strings while they are being collected."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._lengths = array("I")

    def append(self, string: str) -> None:
        line = string.encode("utf8", "replace") + b"\n"
        self._data += line
        self._lengths.append(len(line))

    def strings(self) -> Strings:
        lengths = np.frombuffer(self._lengths, "u4", len(self._lengths))
        return Strings(np.frombuffer(self._data, "u1", len(self._data)), to_offsets(lengths))


def hash_content(entry: LexiconEntry) -> int:
    """Hash all that is known about a word; the version of a lexicon is the sum of these, whatever their order.

    entry (LexiconEntry): The entry, its vector in the dtype in which it is stored.
    RETURNS (int): 64 bits.
    """
    state = blake2b(f"{entry.word}\0{entry.label}\0{entry.entity_id}\0".encode("utf8", "replace"), digest_size=8)
    state.update(np.float32(entry.weight).tobytes())
    if entry.vector is not None:
        state.update(entry.vector.tobytes())
    return int.from_bytes(state.digest(), "little")


def build_table(
    entries: Iterable[LexiconEntry],
    *,
    dtype: Dtype = "float32",
    normalization: Normalization = Normalization(),  # noqa: B008 (immutable)
    max_word_length: int = 64,
    strict: bool = False,
) -> Tuple[Table, BuildReport]:
    """Collect a stream of entries.

    entries (Iterable[LexiconEntry]): The entries; where the stream has attributes `source` and `line` (as those of the
        readers), messages name them.
    RETURNS (Tuple[Table, BuildReport]): The columns, and what was skipped.
    """
    source = str(getattr(entries, "source", "entries"))
    builder = TableBuilder(
        dtype=dtype, normalization=normalization, max_word_length=max_word_length, strict=strict, source=source
    )
    for number, entry in enumerate(entries, 1):
        builder.add(entry, getattr(entries, "line", number))
    return builder.finish(), builder.report
