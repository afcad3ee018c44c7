"""Windows over sequences that are longer than an encoder reads at once, and batches of windows of similar length."""

from typing import List, NamedTuple, Tuple

import numpy as np


class PaddedWindows(NamedTuple):
    """Windows as rows of equal length.

    places (numpy.ndarray): int64[B, L], the positions that the windows read, 0 in the padding.
    inside (numpy.ndarray): bool[B, L], False in the padding.
    own (numpy.ndarray): bool[B, L], True where the vector of a position is taken from this window.
    """

    places: np.ndarray
    inside: np.ndarray
    own: np.ndarray


class Windows(NamedTuple):
    """Windows over sequences that lie one after the other in one array; all fields int64[n].

    starts, ends (numpy.ndarray): What the encoder reads.
    own_starts, own_ends (numpy.ndarray): The part whose vectors are taken from this window. These parts cover each
        sequence once.
    """

    starts: np.ndarray
    ends: np.ndarray
    own_starts: np.ndarray
    own_ends: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """RETURNS (numpy.ndarray): int64[n], how much the encoder reads of each."""
        return self.ends - self.starts

    def take(self, index: np.ndarray) -> "Windows":
        """RETURNS (Windows): Some of the windows, by number."""
        return Windows(*(field[index] for field in self))

    def pad(self) -> PaddedWindows:
        """RETURNS (PaddedWindows): The windows as rows of equal length."""
        places, inside = pad_ranges(self.starts, self.lengths)
        own = inside & (places >= self.own_starts[:, None]) & (places < self.own_ends[:, None])
        return PaddedWindows(places, inside, own)


def cut_windows(lengths: np.ndarray, size: int, stride: int) -> Windows:
    """Cut sequences into overlapping windows. Each position belongs to the window where it stands deepest: the border
    between two windows lies in the middle of their overlap.

    lengths (numpy.ndarray): int[m], the lengths of the sequences. An empty one has no window.
    size (int): The length of a window. All windows of a longer sequence have it; the last one is moved to the left.
    stride (int): How far each window lies from the one before, 1 <= stride <= size.
    RETURNS (Windows): The windows, in order.
    """
    if not 1 <= stride <= size:
        raise ValueError(f"stride = {stride} is out of range: windows of {size} need a stride from 1 to {size}.")
    lengths = np.asarray(lengths, "i8")
    n_windows = np.where(lengths > 0, 1 + np.maximum(0, -(-(lengths - size) // stride)), 0)
    offsets = np.repeat(np.cumsum(lengths) - lengths, n_windows)
    index = np.arange(n_windows.sum()) - np.repeat(np.cumsum(n_windows) - n_windows, n_windows)
    limit = np.repeat(lengths, n_windows)
    starts = np.minimum(index * stride, np.maximum(limit - size, 0))
    ends = np.minimum(starts + size, limit)
    own_starts = np.where(index == 0, 0, (starts + np.roll(ends, 1)) // 2)
    own_ends = np.where(ends == limit, limit, np.roll(own_starts, -1))
    return Windows(starts + offsets, ends + offsets, own_starts + offsets, own_ends + offsets)


def batch_by_padding(lengths: np.ndarray, max_tokens: int) -> List[np.ndarray]:
    """Put sequences of similar length together, so that a batch padded to its longest is no larger than a budget.

    lengths (numpy.ndarray): int[n], the lengths.
    max_tokens (int): The most tokens of a padded batch. A longer sequence is a batch by itself.
    RETURNS (List[numpy.ndarray]): The batches, as numbers of sequences; the longest come first, so that memory runs out
        at once if it must.
    """
    order = np.argsort(-np.asarray(lengths), kind="stable")
    batches, begin = [], 0
    while begin < len(order):
        size = max(1, max_tokens // max(1, int(lengths[order[begin]])))
        batches.append(order[begin : begin + size])
        begin += size
    return batches


def pad_ranges(starts: np.ndarray, lengths: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """RETURNS (Tuple[numpy.ndarray, numpy.ndarray]): The ranges `start, start + 1, ...` as rows of equal length:
    int64[n, m], 0 in the padding; and bool[n, m], False in the padding."""
    steps = np.arange(lengths.max(initial=0))
    inside = steps < lengths[:, None]
    return np.where(inside, starts[:, None] + steps, 0), inside
