"""Windows over sequences that are longer than an encoder reads at once."""

from typing import NamedTuple

import numpy as np


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
