"""The distinct relative positions of a batch of lattices, and which pair of tokens has which.

With n the length of a span, all four distances between the spans of tokens i and j follow from the triple
(start_i - start_j, n_i, n_j). A batch of B lattices of L tokens has B * L * L pairs, but few triples: at most
(2N - 1) * K * K for N characters and K span lengths. So what depends on a position alone is computed once per triple.
"""

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
    ranks: np.ndarray  # int64 [B, L], the group of each token; 0 for padding
    lengths: np.ndarray  # int64 [K], ascending
    low: np.ndarray  # int64 [K], the first start in each group
    high: np.ndarray  # int64 [K], the last one

    @classmethod
    def of(cls, starts: np.ndarray, spans: np.ndarray, valid: np.ndarray) -> "Groups":
        """Group tokens, given the starts and lengths of their spans, at least 1, and which are no padding."""
        found = np.bincount(spans[valid])
        lengths = np.flatnonzero(found)
        numbers = (np.cumsum(found > 0) - 1)[spans[valid]]
        ranks = np.zeros(valid.shape, np.int64)
        ranks[valid] = numbers
        bound = np.iinfo(np.int64).max
        low, high = np.full(len(lengths), bound), np.full(len(lengths), -bound)
        np.minimum.at(low, numbers, starts[valid])
        np.maximum.at(high, numbers, starts[valid])
        return cls(starts, ranks, lengths, low, high)

    def order(self, valid: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """The tokens that are no padding, numbered over the B * L, by group, then by start, int64 [n]; int64 [K + 1],
        where the groups begin among them, and the end."""
        places, ranks, starts = np.flatnonzero(valid), self.ranks[valid], self.starts[valid]
        extent = starts.max(initial=0) - starts.min(initial=0) + 1
        rows = places[np.argsort(ranks * extent + starts, kind="stable")]
        return rows, np.append(0, np.cumsum(np.bincount(ranks, minlength=len(self.lengths))))


class DistinctPositions:
    """The relative positions of the tokens of a batch of lattices. Integers only; computed once for all layers.

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
        keys = queries = Groups.of(begins, spans, valid)
        self._to_last = np.zeros(valid.shape, np.int64)  # from the start of a key to the last one of its group
        self._to_last[valid] = keys.high[keys.ranks[valid]] - begins[valid]
        if self.n_queries < self.n_keys:
            begins, spans, valid = (part[:, : self.n_queries] for part in (begins, spans, valid))
            queries = Groups.of(begins, spans, valid)
        self._keys, self._queries = keys, queries
        self._rows, self._borders = queries.order(valid)
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
        """The section of some groups of queries."""
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
        return Section(self._tensor(triples), self._chunks(first, last, offsets - windows[..., 0]))

    def _chunks(self, first: int, last: int, offsets: np.ndarray) -> List[Chunk]:
        """The chunks of a section; `offsets`, int64 [n, K], of which and a distance the sum is the row of a triple."""
        queries, keys = self._queries, self._keys
        lows = np.array(self._split_rows(first, last))
        low, high = self._borders[[first, last]]
        # Queries of one length within one chunk need a window of distances for each length of keys.
        begins = np.union1d(lows, self._borders[first:last])
        sizes = np.diff(begins, append=high)
        starts, ranks = (part.reshape(-1)[self._rows[low:high]] for part in (queries.starts, queries.ranks))
        least, greatest = starts[begins - low], starts[begins + sizes - 1 - low]
        windows = self._windows(least, greatest)
        counts = windows[..., 1]
        columns = expand_ranges(
            (offsets[ranks[begins - low] - first] + windows[..., 0]).reshape(-1), counts.reshape(-1)
        )
        first_column = np.cumsum(counts).reshape(counts.shape) - counts
        chunk = np.searchsorted(lows, begins, "right") - 1
        borders = first_column[np.searchsorted(chunk, np.arange(len(lows))), 0]
        # Column of a pair: where the window of its lengths begins, plus how far its distance is from the least one.
        key_part = (first_column - borders[chunk, None])[:, keys.ranks] + self._to_last
        own = np.repeat(np.arange(len(begins)), sizes)
        rows = self._rows[low:high]
        pairs = key_part[own, rows // self.n_queries]
        pairs += (starts - least[own])[:, None]
        parts = (np.split(rows, lows[1:] - low), np.split(columns, borders[1:]), np.split(pairs, lows[1:] - low))
        return [Chunk(*map(self._tensor, chunk)) for chunk in zip(*parts)]

    def _windows(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """int64 [n, K, 2]: for n groups of queries with starts from low to high, and for keys of each length, the least
        distance of starts and the number of distances.
        """
        least = low[:, None] - self._keys.high
        return np.stack((least, high[:, None] - self._keys.low - least + 1), axis=-1)

    def _split_rows(self, first: int, last: int) -> List[int]:
        """RETURNS (List[int]): The starts of chunks among the ordered queries. Long groups are split, small
        neighbouring ones joined."""
        begins: List[int] = []
        joined_columns = 0
        for rank in range(first, last):
            low, high = int(self._borders[rank]), int(self._borders[rank + 1])
            n_columns = int(self._counts[rank])
            if joined_columns and (high - begins[-1]) * (joined_columns + n_columns) <= SMALL_CHUNK_SCORES:
                joined_columns += n_columns
                continue
            n_parts = min(high - low, -(-(high - low) * n_columns // CHUNK_SCORES))
            begins += np.linspace(low, high, n_parts, endpoint=False).astype(int).tolist()
            joined_columns = n_columns if n_parts == 1 else 0
        return begins

    def _tensor(self, array: np.ndarray) -> Tensor:
        return tensor_of(np.ascontiguousarray(array), self._device)
