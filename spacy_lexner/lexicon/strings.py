"""A column of strings in two flat arrays."""

from typing import Iterable, Iterator, NamedTuple

import numpy as np


class Strings(NamedTuple):
    """Strings by number: a text file in memory.

    data (numpy.ndarray): uint8[n_bytes], UTF-8, a line feed after each string.
    offsets (numpy.ndarray): int64[n + 1], where each string begins.
    """

    data: np.ndarray
    offsets: np.ndarray

    @property
    def size(self) -> int:
        return len(self.offsets) - 1

    def get(self, row: int) -> str:
        """RETURNS (str): The string of that number."""
        return self.data[self.offsets[row] : self.offsets[row + 1] - 1].tobytes().decode("utf8")

    def all(self, chunk: int = 1 << 16) -> Iterator[str]:
        """YIELDS (str): All strings, in order."""
        for low in range(0, self.size, chunk):
            offsets = self.offsets[low : low + chunk + 1]
            data = self.data[offsets[0] : offsets[-1]].tobytes()
            borders = (offsets - offsets[0]).tolist()
            for begin, end in zip(borders, borders[1:]):
                yield data[begin : end - 1].decode("utf8")

    def take(self, rows: np.ndarray) -> "Strings":
        """RETURNS (Strings): The strings of these numbers (int64[m]), in this order."""
        lengths = np.diff(self.offsets)[rows]
        offsets = to_offsets(lengths)
        shift = np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths)
        return Strings(self.data[np.arange(offsets[-1]) + shift], offsets)

    def concat(self, other: "Strings") -> "Strings":
        """RETURNS (Strings): These strings, then the other ones."""
        offsets = np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]])
        return Strings(np.concatenate([self.data, other.data]), offsets)


def to_offsets(lengths: np.ndarray) -> np.ndarray:
    """RETURNS (numpy.ndarray): int64[n + 1], where parts of these lengths begin, and the end of the last."""
    offsets = np.zeros(len(lengths) + 1, "i8")
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def to_strings(strings: Iterable[str]) -> Strings:
    """RETURNS (Strings): A column of these strings."""
    lines = [string.encode("utf8") + b"\n" for string in strings]
    lengths = np.fromiter(map(len, lines), "i8", len(lines))
    return Strings(np.frombuffer(b"".join(lines), "u1"), to_offsets(lengths))
