"""The distinct relative positions of a batch of lattices, and which pair of tokens has which.

With n the length of a span, all four distances between the spans of tokens i and j follow from the triple
(start_i - start_j, n_i, n_j). A batch of B lattices of L tokens has B * L * L pairs, but few triples: at most
(2N - 1) * K * K for N characters and K span lengths. So what depends on a position alone is computed once per triple.
"""

import itertools
from typing import List, NamedTuple, Tuple

import numpy as np
import torch
from torch import Tensor

from ...candidates.batch_words import expand_ranges
from ...tensors.convert import numpy_of, tensor_of

CHUNK_SCORES = 2**17  # scores of a chunk in one head: 4 MB for eight heads, which a processor's cache holds
SMALL_CHUNK_SCORES = 2**14  # below this the calls cost more than the arithmetic, so groups are put together
SECTION_ROWS = 2**16  # triples that are in memory at a time


class Chunk(NamedTuple):
    """Queries that are scored together, against all the relative positions that any of them has to any key."""

    rows: Tensor  # int64 [r], their places among the B * L tokens
    columns: Tensor  # int64 [c], rows of the section's triples
    pairs: Tensor  # int64 [r, L], the column for each query and key; any column where the key is padding


class Section(NamedTuple):
    """Relative positions that are held in memory at a time, and the queries that need them."""

    triples: Tensor  # int64 [u, 3], distinct (start_i - start_j, n_i, n_j)
    chunks: List[Chunk]

    @property
    def distances(self) -> Tensor:
        """The four distances of each triple, int64 [u, 4]."""
        return triple_distances(self.triples)


def triple_distances(triples: Tensor) -> Tensor:
    """The four distances of each triple, int64 [u, 4], in the order of `pair_distances`."""
    heads, n_i, n_j = triples.unbind(-1)
    return torch.stack((heads, heads - n_j + 1, heads + n_i - 1, heads + n_i - n_j), dim=-1)


class DistinctPositions:
    """How the tokens of a batch of lattices stand to each other, given their half-open spans, int64 [B, L], and a mask,
    bool [B, L], False for padding. Integers only; made once, used by every layer.

    Queries are grouped by span length and ordered by start, so that a chunk of them needs a narrow window of the
    distances. Only span lengths that occur count: one word as long as its text adds one length.
    """

    def __init__(self, starts: Tensor, ends: Tensor, mask: Tensor) -> None:
        self.shape = (starts.shape[0], starts.shape[1])
        self._device = starts.device
        valid = numpy_of(mask)
        begins = numpy_of(starts).astype(np.int64)
        spans = numpy_of(ends).astype(np.int64) - begins
        if (spans[valid] < 1).any():
            raise ValueError("A span of the lattice is empty: its end must lie after its start.")
        self._lengths, ranks = np.unique(spans[valid], return_inverse=True)
        self._ranks = np.zeros(self.shape, np.int64)
        self._ranks[valid] = ranks
        self._starts, self._valid = begins, valid
        order = np.lexsort((begins[valid], ranks))
        self._rows = np.flatnonzero(valid)[order]  # valid tokens, by span length, then by start
        self._borders = np.searchsorted(ranks[order], np.arange(len(self._lengths) + 1))
        sorted_starts = begins.reshape(-1)[self._rows]
        self._low = sorted_starts[self._borders[:-1]]  # first and last start of each span length
        self._high = sorted_starts[self._borders[1:] - 1]
        self.sections = [self._section(first, last) for first, last in self._split_lengths()]

    def _split_lengths(self) -> List[Tuple[int, int]]:
        """Ranges of span lengths whose triples fit into memory together."""
        extents = self._high - self._low
        n_triples = (extents[:, None] + extents[None, :] + 1).sum(1)
        ranges: List[Tuple[int, int]] = []
        first = 0
        for last in range(1, len(self._lengths) + 1):
            if last == len(self._lengths) or n_triples[first : last + 1].sum() > SECTION_ROWS:
                ranges.append((first, last))
                first = last
        return ranges

    def _section(self, first: int, last: int) -> Section:
        lengths = np.arange(first, last)
        windows = self._windows(self._low[lengths], self._high[lengths])
        counts = windows[..., 1]
        offsets = np.cumsum(counts).reshape(counts.shape) - counts
        triples = np.stack(
            (
                expand_ranges(windows[..., 0].reshape(-1), counts.reshape(-1)),
                np.repeat(self._lengths[lengths], counts.sum(1)),
                np.repeat(np.tile(self._lengths, len(lengths)), counts.reshape(-1)),
            ),
            axis=-1,
        )
        chunks = [self._chunk(low, high, first, windows, offsets) for low, high in self._split_rows(first, last)]
        return Section(self._tensor(triples), chunks)

    def _windows(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """int64 [n, K, 2]: for n groups of queries with starts from low to high, and for keys of each length, the least
        distance of starts and the number of distances.
        """
        least = low[:, None] - self._high[None, :]
        return np.stack((least, high[:, None] - self._low[None, :] - least + 1), axis=-1)

    def _split_rows(self, first: int, last: int) -> List[Tuple[int, int]]:
        """Ranges of the ordered queries: long groups are cut, small neighbouring groups are joined."""
        ranges: List[Tuple[int, int]] = []
        joined_columns = 0
        for rank in range(first, last):
            low, high = int(self._borders[rank]), int(self._borders[rank + 1])
            n_columns = int((self._high[rank] - self._low[rank] + self._high - self._low + 1).sum())
            if joined_columns and (high - ranges[-1][0]) * (joined_columns + n_columns) <= SMALL_CHUNK_SCORES:
                ranges[-1] = (ranges[-1][0], high)
                joined_columns += n_columns
                continue
            n_parts = min(high - low, -(-(high - low) * n_columns // CHUNK_SCORES))
            cuts = np.linspace(low, high, n_parts + 1).astype(int).tolist()
            ranges.extend((low, high) for low, high in itertools.pairwise(cuts))
            joined_columns = n_columns if n_parts == 1 else 0
        return ranges

    def _chunk(self, low: int, high: int, first: int, windows: np.ndarray, offsets: np.ndarray) -> Chunk:
        rows = self._rows[low:high]
        starts, ranks = self._starts.reshape(-1)[rows], self._ranks.reshape(-1)[rows]
        lengths, groups = np.unique(ranks, return_inverse=True)
        borders = np.searchsorted(ranks, lengths)
        least = starts[borders]
        greatest = starts[np.append(borders[1:], len(rows)) - 1]
        own = self._windows(least, greatest)
        counts = own[..., 1]
        firsts = offsets[lengths - first] + own[..., 0] - windows[lengths - first, :, 0]
        columns = expand_ranges(firsts.reshape(-1), counts.reshape(-1))
        first_column = np.cumsum(counts).reshape(counts.shape) - counts
        # Column of a pair: where the window of its lengths begins, plus how far its distance is from the least one.
        key_part = first_column[:, self._ranks] + self._high[self._ranks] - self._starts
        key_part[:, ~self._valid] = 0
        pairs = key_part[groups, rows // self.shape[1]] + (starts - least[groups])[:, None]
        return Chunk(self._tensor(rows), self._tensor(columns), self._tensor(pairs))

    def _tensor(self, array: np.ndarray) -> Tensor:
        return tensor_of(np.ascontiguousarray(array), self._device)
