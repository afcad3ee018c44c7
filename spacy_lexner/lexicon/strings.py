"""A column of strings in two flat arrays."""

from array import array
from itertools import pairwise
from typing import Iterator, List, NamedTuple

import numpy as np

from .errors import LexiconError
from .limits import quote

CHUNK_ROWS = 1 << 16
CONTINUATION = 0b10  # the two highest bits of a UTF-8 byte that does not begin a character


class Strings(NamedTuple):
    """Numbered strings: a text file in memory."""

    data: np.ndarray  # uint8[n_bytes], UTF-8, a line feed after each string
    offsets: np.ndarray  # int64[n + 1], where each string begins, and the end of the last

    @property
    def size(self) -> int:
        return len(self.offsets) - 1

    def any(self) -> bool:
        """Whether any string is not empty."""
        return len(self.data) > self.size

    def filled(self, rows: np.ndarray) -> np.ndarray:
        """bool[m], which of these strings (int64[m]) are not empty."""
        return self.offsets[rows + 1] - self.offsets[rows] > 1

    def lengths(self) -> np.ndarray:
        """int64[n], the number of characters of each string."""
        begins = np.concatenate([[0], np.cumsum(self.data >> 6 != CONTINUATION)])
        return np.diff(begins[self.offsets]) - 1  # without the line feed

    def get(self, row: int) -> str:
        """One string. Raises LexiconError if its bytes are damaged."""
        return _decode(self.data[self.offsets[row] : self.offsets[row + 1] - 1].tobytes())

    def all(self) -> Iterator[str]:
        """All strings, in order. Raises LexiconError if the bytes are damaged."""
        for low in range(0, self.size, CHUNK_ROWS):
            offsets = self.offsets[low : low + CHUNK_ROWS + 1]
            data = self.data[offsets[0] : offsets[-1]].tobytes()
            for begin, end in pairwise((offsets - offsets[0]).tolist()):
                yield _decode(data[begin : end - 1])

    def take(self, rows: np.ndarray) -> "Strings":
        """These strings (int64[m]), in this order."""
        parts: List[np.ndarray] = []
        lengths = self.offsets[rows + 1] - self.offsets[rows]
        for low in range(0, len(rows), CHUNK_ROWS):
            chunk, length = rows[low : low + CHUNK_ROWS], lengths[low : low + CHUNK_ROWS]
            shift = self.offsets[chunk] - to_offsets(length)[:-1]
            parts.append(self.data[np.arange(length.sum()) + np.repeat(shift, length)])
        return Strings(np.concatenate(parts) if parts else np.zeros(0, "u1"), to_offsets(lengths))

    def concat(self, other: "Strings") -> "Strings":
        offsets = np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]])
        return Strings(np.concatenate([self.data, other.data]), offsets)


class StringsBuilder:
    """Collects strings into a column."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._lengths = array("I")

    def append(self, string: str) -> None:
        """Add a string. A lone surrogate, which UTF-8 cannot encode, becomes a question mark."""
        line = string.encode("utf8", "replace") + b"\n" if string else b"\n"
        self._data += line
        self._lengths.append(len(line))

    def finish(self) -> Strings:
        return Strings(np.frombuffer(self._data, "u1"), to_offsets(np.frombuffer(self._lengths, "u4")))


def empty_strings(n: int) -> Strings:
    """A column of n empty strings."""
    return Strings(np.full(n, ord("\n"), "u1"), np.arange(n + 1))


def to_offsets(lengths: np.ndarray) -> np.ndarray:
    """int64[n + 1], the beginnings of consecutive parts of these lengths, and the end of the last."""
    offsets = np.zeros(len(lengths) + 1, "i8")
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf8")
    except UnicodeDecodeError:
        raise LexiconError(
            f"The lexicon's strings are damaged: {quote(data)} is not UTF-8. Lexicon.open(path, verify=True) names the "
            "file that differs from what was saved."
        ) from None
