"""Collects vectors: in memory, or in a temporary file when they are many."""

from tempfile import SpooledTemporaryFile
from typing import Any, Optional

import numpy as np

MAX_IN_MEMORY = 1 << 26
CHUNK_ROWS = 1 << 14


class VectorSpool:
    """Collects rows of vectors into one array. The temporary file has no name and disappears with the array. `dim` is
    the width of the vectors, 0 while there are none; `size` their number."""

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
