"""The columns of a lexicon, one row for each word."""

from array import array
from tempfile import SpooledTemporaryFile
from typing import Any, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from .entry import Labels, LexiconEntry, hash_content, pack_labels, unpack_labels
from .rules import pack_rules, unpack_rules
from .strings import Strings, StringsBuilder, empty_strings

MAX_IN_MEMORY = 1 << 26  # bytes of vectors
CHUNK_ROWS = 1 << 14
LABELS, ENTITY_IDS, RULES = TEXTS = ("label", "entity_id", "rule")


class Table(NamedTuple):
    """The entries of a lexicon as columns, in the order in which they were read."""

    words: Strings  # normalised
    hashes: np.ndarray  # uint64[n], hash of each word
    contents: np.ndarray  # uint64[n], hash of each entry; their sum makes the version
    weights: Optional[np.ndarray]  # float32[n]; None if all are 1
    texts: Mapping[str, Strings]  # by name (TEXTS), as `pack_labels` and `pack_rules` write them, if any word has some
    vectors: np.ndarray  # float16 or float32[n_vectors, dim]
    vector_rows: Optional[np.ndarray]  # int32[n], the row of each word's vector, or -1; None if there are no vectors

    @property
    def size(self) -> int:
        return self.words.size

    def entry(self, row: int) -> LexiconEntry:
        vector = None
        if self.vector_rows is not None and self.vector_rows[row] >= 0:
            vector = np.array(self.vectors[self.vector_rows[row]])
        return LexiconEntry(
            self.words.get(row),
            vector,
            1.0 if self.weights is None else float(self.weights[row]),
            self.labels_of(row),
            self._text(ENTITY_IDS, row),
            unpack_rules(self._text(RULES, row)),
        )

    def labels_of(self, row: int) -> Labels:
        return unpack_labels(self._text(LABELS, row))

    def _text(self, name: str, row: int) -> str:
        return self.texts[name].get(row) if name in self.texts else ""

    def column(self, name: str) -> Strings:
        """The texts of all words."""
        return self.texts[name] if name in self.texts else empty_strings(self.size)

    def with_labels(self, labels: Mapping[int, Labels]) -> "Table":
        """The same with other labels for some rows."""
        if not labels:
            return self
        column, rows = StringsBuilder(), np.arange(self.size)
        for own in labels.values():
            column.append(pack_labels(own))
        rows[list(labels)] = np.arange(self.size, self.size + len(labels))
        changed = self._replace(texts={**self.texts, LABELS: self.column(LABELS).concat(column.finish()).take(rows)})
        contents = self.contents.copy()
        contents[list(labels)] = [hash_content(changed.entry(row)) for row in labels]
        return changed._replace(contents=contents)

    def take(self, rows: np.ndarray) -> "Table":
        """These rows (int64[m]), in this order, with the vectors they need."""
        vectors, vector_rows = self.vectors, self.vector_rows
        if vector_rows is not None:
            chosen = vector_rows[rows]
            used, renamed = np.unique(chosen[chosen >= 0], return_inverse=True)
            vector_rows = np.full(len(rows), -1, "i4")
            vector_rows[chosen >= 0] = renamed
            if len(used) < len(vectors):
                vectors = _spooled(vectors.dtype, (vectors, used)) if len(used) else vectors[:0]
        return Table(
            self.words.take(rows),
            self.hashes[rows],
            self.contents[rows],
            None if self.weights is None else self.weights[rows],
            {name: column.take(rows) for name, column in self.texts.items()},
            vectors,
            vector_rows if len(vectors) else None,
        )

    def concat(self, other: "Table") -> "Table":
        plain = self.weights is None and other.weights is None
        return Table(
            self.words.concat(other.words),
            np.concatenate([self.hashes, other.hashes]),
            np.concatenate([self.contents, other.contents]),
            None if plain else np.concatenate([weights_of(self), weights_of(other)]),
            {name: self.column(name).concat(other.column(name)) for name in {**self.texts, **other.texts}},
            *_concat_vectors(self, other),
        )


class VectorSpool:
    """Collects vectors as rows of one array: in memory, or in a file above MAX_IN_MEMORY. The file has no name and
    disappears with the array. `dim` is the width of the vectors, 0 while there are none; `size` their number."""

    def __init__(self, dtype: np.dtype) -> None:
        self.dtype = dtype
        self.dim = 0
        self.size = 0
        self._file = SpooledTemporaryFile(MAX_IN_MEMORY)  # noqa: SIM115 (closed by __exit__)

    def __enter__(self) -> "VectorSpool":
        return self

    def __exit__(self, *_: Any) -> None:
        self._file.close()

    def append(self, vector: np.ndarray) -> int:
        """Add a vector ([dim]) and return its row."""
        self.dim = len(vector)
        self.size += 1
        self._file.write(vector.tobytes())
        return self.size - 1

    def extend(self, vectors: np.ndarray, rows: Optional[np.ndarray] = None) -> None:
        """Add many vectors, [n, dim], possibly a memory map: the rows given (int64[m]), or all."""
        n = len(vectors) if rows is None else len(rows)
        for low in range(0, n, CHUNK_ROWS):
            part = slice(low, low + CHUNK_ROWS)
            self._file.write(vectors[part if rows is None else rows[part]].tobytes())
        self.dim = vectors.shape[1] if n else self.dim
        self.size += n

    def finish(self) -> np.ndarray:
        """The vectors, [size, dim], read-only."""
        n_bytes = self.size * self.dim * self.dtype.itemsize
        if n_bytes > MAX_IN_MEMORY:
            self._file.flush()
            return np.memmap(self._file, self.dtype, "r", shape=(self.size, self.dim)).view(np.ndarray)
        self._file.seek(0)
        return np.frombuffer(self._file.read(), self.dtype).reshape(self.size, self.dim)


class TableBuilder:
    """Collects entries into columns, as flat arrays; their vectors go to the spool."""

    def __init__(self, spool: VectorSpool) -> None:
        self._spool = spool
        self._hashes, self._contents, self._weights, self._vector_rows = array("Q"), array("Q"), array("f"), array("i")
        self._words, self._texts = StringsBuilder(), [StringsBuilder() for _ in TEXTS]

    def append(self, entry: LexiconEntry, word_hash: int, content: int) -> None:
        """Add a valid, normalised entry (its vector in the spool's dtype), its `hash_word` and its `hash_content`."""
        self._hashes.append(word_hash)
        self._contents.append(content)
        self._words.append(entry.word)
        self._weights.append(entry.weight)
        for column, text in zip(self._texts, (pack_labels(entry.labels), entry.entity_id, pack_rules(entry.rules))):
            column.append(text)
        self._vector_rows.append(-1 if entry.vector is None else self._spool.append(entry.vector))

    def finish(self) -> Table:
        weights = np.frombuffer(self._weights, "f4")
        texts = {name: column.finish() for name, column in zip(TEXTS, self._texts)}
        return Table(
            words=self._words.finish(),
            hashes=np.frombuffer(self._hashes, "u8"),
            contents=np.frombuffer(self._contents, "u8"),
            weights=weights if (weights != 1).any() else None,
            texts={name: column for name, column in texts.items() if column.any()},
            vectors=self._spool.finish(),
            vector_rows=np.frombuffer(self._vector_rows, "i4") if self._spool.size else None,
        )


def weights_of(table: Table) -> np.ndarray:
    """float32[n], the weight of each row."""
    return np.ones(table.size, "f4") if table.weights is None else table.weights


def vector_rows_of(table: Table) -> np.ndarray:
    """int32[n], the row of each word's vector, or -1."""
    return np.full(table.size, -1, "i4") if table.vector_rows is None else table.vector_rows


def _concat_vectors(a: Table, b: Table) -> Tuple[np.ndarray, Optional[np.ndarray]]:
    if b.vector_rows is None and a.vector_rows is None:
        return a.vectors if a.vectors.shape[1] else b.vectors, None
    rows_a, rows_b = vector_rows_of(a), vector_rows_of(b)
    rows_b = np.where(rows_b < 0, -1, rows_b + len(a.vectors)).astype("i4")
    every = [(table.vectors, np.arange(len(table.vectors))) for table in (a, b)]
    return _spooled(a.vectors.dtype, *every), np.concatenate([rows_a, rows_b])


def _spooled(dtype: np.dtype, *parts: Tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Gather rows of vectors, on disk above MAX_IN_MEMORY."""
    with VectorSpool(dtype) as spool:
        for vectors, rows in parts:
            spool.extend(vectors, rows)
        return spool.finish()
