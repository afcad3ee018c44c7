"""Windows over sequences that exceed an encoder's limit, and batches of windows of similar length."""

from typing import List, NamedTuple, Tuple

import numpy as np

BATCH_COST = 128  # padded tokens that take as long as a batch itself; from 64 to 256 hardly anything changes
LSTM_BATCH_COST = 8192  # the same for an LSTM, which skips padding but takes a batch's steps one by one


class PaddedWindows(NamedTuple):
    """Windows as rows of equal length."""

    places: np.ndarray  # int64[B, L], the positions that the windows read, 0 in the padding
    inside: np.ndarray  # bool[B, L], False in the padding
    own: np.ndarray  # bool[B, L], True where the vector of a position is taken from this window


class Windows(NamedTuple):
    """Windows over sequences that are concatenated in one array; all fields int64[n], ends exclusive. The
    encoder reads `starts` to `ends`; only the vectors of the own parts are used, which cover each sequence once."""

    starts: np.ndarray
    ends: np.ndarray
    own_starts: np.ndarray
    own_ends: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """RETURNS (numpy.ndarray): The length of each window, int64[n]."""
        return self.ends - self.starts

    def take(self, index: np.ndarray) -> "Windows":
        """Select windows by number."""
        return Windows(*(field[index] for field in self))

    def pad(self) -> PaddedWindows:
        """Pad the windows to rows of equal length."""
        places, inside = pad_ranges(self.starts, self.lengths)
        own = inside & (places >= self.own_starts[:, None]) & (places < self.own_ends[:, None])
        return PaddedWindows(places, inside, own)


def cut_windows(lengths: np.ndarray, size: int, stride: int) -> Windows:
    """Cut sequences into overlapping windows; an empty one has none. Each position belongs to the window where it lies
    deepest: the border between two windows is in the middle of their overlap.

    All windows of a sequence longer than `size` have that length. Each begins `stride` after the one before, except
    that the last is moved left to end with the sequence. Raises ValueError unless 1 <= stride <= size.
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


def batch_by_padding(lengths: np.ndarray, max_tokens: int, batch_cost: int = BATCH_COST) -> List[np.ndarray]:
    """Put sequences of similar length together, so that a batch padded to its longest has at most `max_tokens`; a
    longer sequence is a batch by itself. Of all such batches these cost least: the sum of their padded sizes, and
    `batch_cost` for each. Gives numbers of sequences, the longest first: if memory runs out, then at once."""
    order = np.argsort(-np.asarray(lengths), kind="stable")
    sizes = np.maximum(np.asarray(lengths)[order], 1)
    n, low = len(order), 0
    costs, begins = np.zeros(n + 1, "i8"), np.zeros(n + 1, "i8")  # of the first n sequences; of their last batch
    for end in range(1, n + 1):
        while low < end - 1 and (end - low) * sizes[low] > max_tokens:
            low += 1
        sums = costs[low:end] + (end - np.arange(low, end)) * sizes[low:end]
        best = int(sums.argmin())
        costs[end], begins[end] = sums[best] + batch_cost, low + best
    batches = []
    while n:
        batches.append(order[begins[n] : n])
        n = int(begins[n])
    return batches[::-1]


def pad_ranges(starts: np.ndarray, lengths: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """The ranges `start, start + 1, ...` as rows of equal length, int64[n, m]; and bool[n, m], False in the padding,
    where the former is 0."""
    steps = np.arange(lengths.max(initial=0))
    inside = steps < lengths[:, None]
    return np.where(inside, starts[:, None] + steps, 0), inside
