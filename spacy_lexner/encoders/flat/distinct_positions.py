"""The distinct relative positions of a batch of lattices, and which pair of tokens has which.

With n the length of a span, all four distances between the spans of tokens i and j follow from the triple
(start_i - start_j, n_i, n_j). A batch of B lattices of L tokens has B * L * L pairs, but few triples: at most
(2N - 1) * K * K for N characters and K span lengths. So what depends on a position alone is computed once per triple.
"""

import itertools
from typing import List, NamedTuple, Optional, Tuple

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

    rows: Tensor  # int64 [r], their places among the B * Q queries
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


class Groups(NamedTuple):
    """Tokens of a batch of lattices, grouped by the length of their spans. Only lengths that occur count: one word as
    long as its text adds one length."""

    starts: np.ndarray  # int64 [B, L]
    valid: np.ndarray  # bool [B, L], False for padding
    ranks: np.ndarray  # int64 [B, L], the group of each token
    lengths: np.ndarray  # int64 [K], ascending
    low: np.ndarray  # int64 [K], the first start in each group
    high: np.ndarray  # int64 [K], the last one
    rows: np.ndarray  # int64 [n], the valid tokens, numbered over the B * L, by group, then by start
    borders: np.ndarray  # int64 [K + 1], where the groups begin in `rows`, and the end

    @classmethod
    def of(cls, starts: np.ndarray, spans: np.ndarray, valid: np.ndarray) -> "Groups":
        """Group tokens, given the starts and lengths of their spans."""
        lengths, numbers = np.unique(spans[valid], return_inverse=True)
        ranks = np.zeros(valid.shape, np.int64)
        ranks[valid] = numbers
        order = np.lexsort((starts[valid], numbers))
        rows = np.flatnonzero(valid)[order]
        borders = np.searchsorted(numbers[order], np.arange(len(lengths) + 1))
        ordered = starts.reshape(-1)[rows]
        return cls(starts, valid, ranks, lengths, ordered[borders[:-1]], ordered[borders[1:] - 1], rows, borders)


class DistinctPositions:
    """How the tokens of a batch of lattices stand to each other. Integers only; made once, used by every layer.

    Queries are grouped by span length and ordered by start, so that a chunk of them needs a narrow window of the
    distances.
    """

    def __init__(self, starts: Tensor, ends: Tensor, mask: Tensor, n_queries: Optional[int] = None) -> None:
        """Find the positions.

        starts, ends (torch.Tensor): int64 [B, L], the half-open spans of the tokens.
        mask (torch.Tensor): bool [B, L], False for padding.
        n_queries (Optional[int]): How many tokens of each lattice, the first ones, are queries; None for all. All
            tokens are keys.
        """
        self._device = starts.device
        begins, valid = numpy_of(starts).astype(np.int64), numpy_of(mask)
        spans = numpy_of(ends).astype(np.int64) - begins
        if (spans[valid] < 1).any():
            raise ValueError("A span of the lattice is empty: its end must lie after its start.")
        n_lattices, self.n_keys = valid.shape
        self.n_queries = self.n_keys if n_queries is None else n_queries
        self.shape = (n_lattices, self.n_queries)
        self._keys = self._queries = Groups.of(begins, spans, valid)
        if self.n_queries < self.n_keys:
            self._queries = Groups.of(*(part[:, : self.n_queries] for part in (begins, spans, valid)))
        self._counts = self._windows(self._queries.low, self._queries.high)[..., 1].sum(1)  # triples of each group
        self.sections = [self._section(first, last) for first, last in self._split_lengths()]

    def _split_lengths(self) -> List[Tuple[int, int]]:
        """Ranges of groups of queries whose triples fit into memory together."""
        ranges: List[Tuple[int, int]] = []
        first = 0
        for last in range(1, len(self._counts) + 1):
            if last == len(self._counts) or self._counts[first : last + 1].sum() > SECTION_ROWS:
                ranges.append((first, last))
                first = last
        return ranges

    def _section(self, first: int, last: int) -> Section:
        queries, keys = self._queries, self._keys
        windows = self._windows(queries.low[first:last], queries.high[first:last])
        counts = windows[..., 1]
        offsets = np.cumsum(counts).reshape(counts.shape) - counts
        triples = np.stack(
            (
                expand_ranges(windows[..., 0].reshape(-1), counts.reshape(-1)),
                np.repeat(queries.lengths[first:last], counts.sum(1)),
                np.repeat(np.tile(keys.lengths, last - first), counts.reshape(-1)),
            ),
            axis=-1,
        )
        chunks = [self._chunk(low, high, first, windows, offsets) for low, high in self._split_rows(first, last)]
        return Section(self._tensor(triples), chunks)

    def _windows(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """int64 [n, K, 2]: for n groups of queries with starts from low to high, and for keys of each length, the least
        distance of starts and the number of distances.
        """
        least = low[:, None] - self._keys.high
        return np.stack((least, high[:, None] - self._keys.low - least + 1), axis=-1)

    def _split_rows(self, first: int, last: int) -> List[Tuple[int, int]]:
        """Ranges of the ordered queries: long groups are cut, small neighbouring groups are joined."""
        ranges: List[Tuple[int, int]] = []
        joined_columns = 0
        for rank in range(first, last):
            low, high = int(self._queries.borders[rank]), int(self._queries.borders[rank + 1])
            n_columns = int(self._counts[rank])
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
        queries, keys = self._queries, self._keys
        rows = queries.rows[low:high]
        starts, ranks = queries.starts.reshape(-1)[rows], queries.ranks.reshape(-1)[rows]
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
        key_part = first_column[:, keys.ranks] + keys.high[keys.ranks] - keys.starts
        key_part[:, ~keys.valid] = 0
        pairs = key_part[groups, rows // self.n_queries] + (starts - least[groups])[:, None]
        return Chunk(self._tensor(rows), self._tensor(columns), self._tensor(pairs))

    def _tensor(self, array: np.ndarray) -> Tensor:
        return tensor_of(np.ascontiguousarray(array), self._device)
