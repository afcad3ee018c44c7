"""How the spans of a lattice lie to each other: four distances, their encodings, and the fusion of these into one
vector or number (Li et al. 2020, equations 4 to 9).

Each fusion has its formula, `plain`, for any number of pairs of spans. Attention uses the fast version next to it,
which only ever sees the distinct positions of a batch. The first linear layer of a fusion is a sum of one product per
kind of distance, and a text has few distances: so that layer is computed per distance and added up per position.
"""

import math
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .distinct_positions import DistinctPositions
from .options import Positions

KINDS = 4  # of distances: head to head, head to tail, tail to head, tail to tail


def pair_distances(starts: Tensor, ends: Tensor) -> Tensor:
    """Equations 4 to 7: head_i - head_j, head_i - tail_j, tail_i - head_j and tail_i - tail_j, int64 [B, L, L, 4], for
    all pairs of half-open spans, int64 [B, L]; the tail is the last position, `end - 1`."""
    heads, tails = starts, ends - 1
    pairs = ((heads, heads), (heads, tails), (tails, heads), (tails, tails))
    return torch.stack([i.unsqueeze(2) - j.unsqueeze(1) for i, j in pairs], dim=-1)


def bounds(distances: Tensor) -> Tuple[int, int]:
    """The least and the greatest of some distances."""
    return int(distances.amin()), int(distances.amax())


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Encode positions, [...], as sines (first half) and cosines (second half) of geometrically falling frequencies, as
    in tensor2tensor: `frequency[k] = 10000 ** (-k / (width // 2 - 1))`, float32 [..., width]. An odd width ends in a
    zero."""
    half = width // 2
    steps = torch.arange(half, dtype=torch.float32, device=positions.device)
    angles = positions.to(torch.float32).unsqueeze(-1) * torch.exp(steps * -(math.log(10000.0) / (half - 1)))
    encoded = torch.cat((angles.sin(), angles.cos()), dim=-1)
    return F.pad(encoded, (0, 1)) if width % 2 else encoded


class PositionEncoding(nn.Module):
    """Vectors of distances, or of absolute positions: sinusoids, or learned tables, from the position `lowest` on, that
    start as these."""

    def __init__(self, width: int, options: Positions, n_tables: int, lowest: int) -> None:
        super().__init__()
        if width < 4:
            raise ValueError(f"Positions are encoded in at least 4 values, not {width}: raise the width.")
        self.width, self.lowest, self.highest = width, lowest, options.max_distance
        self.offset, self.normalize = options.offset, options.normalize
        self.tables: Optional[nn.ParameterList] = None
        if options.learned:
            start = self._sinusoids(torch.arange(lowest, self.highest + 1))
            self.tables = nn.ParameterList(nn.Parameter(start.clone()) for _ in range(n_tables))

    def forward(self, positions: Tensor, kind: int) -> Tensor:
        """RETURNS (torch.Tensor): The vectors of int64 [...] positions of one kind, float32 [..., width]."""
        if self.tables is None:
            return self._sinusoids(positions)
        table = self.tables[kind if len(self.tables) > 1 else 0]
        return table[positions.clamp(self.lowest, self.highest) - self.lowest]

    def _sinusoids(self, positions: Tensor) -> Tensor:
        encoded = sinusoids(positions + self.offset, self.width)
        return encoded / encoded.sum(-1, keepdim=True) if self.normalize else encoded


class PositionKeys(NamedTuple):
    """The vectors that queries are scored against, one for each relative position."""

    vectors: Tensor  # float [n, H]
    lookup: Optional[Tensor] = None  # int64 [u], the row of each of the u positions; None if they are the rows


class PositionFusion(nn.Module):
    """Base of the fusions: from the four distances between two spans to R_ij, a vector of the width H of encodings."""

    kinds: Tuple[int, ...] = tuple(range(KINDS))

    def __init__(self, width: int, options: Positions) -> None:
        super().__init__()
        self.width = width
        n_tables = 1 if options.share_tables else KINDS
        self.encoding = PositionEncoding(width, options, n_tables, -options.max_distance)

    def plain(self, encodings: List[Tensor]) -> Tensor:
        """The formula: R_ij from the encodings of the four distances, float [..., H] each."""
        raise NotImplementedError

    def fuse(self, distances: Tensor) -> Tensor:
        """The same for int64 [u, 4] distances, float [u, H]."""
        raise NotImplementedError

    def forward(self, distances: Tensor, projection: Optional[nn.Linear] = None) -> PositionKeys:
        """Fuse distances, int64 [u, 4], and project the result, if there is a projection: W_r R + b_r."""
        fused = self.fuse(distances)
        return PositionKeys(fused if projection is None else projection(fused))

    def _per_distance(self, distances: Tensor, compute: Callable[[int, Tensor], Tensor]) -> Tuple[Tensor, Tensor]:
        """Rows that depend on one distance alone, `compute(kind, encodings)` of each; int64 [u, kinds], which row each
        distance has."""
        low, high = bounds(distances)
        span = torch.arange(low, high + 1, device=distances.device)
        rows = torch.cat([compute(kind, self.encoding(span, kind)) for kind in self.kinds])
        offsets = torch.arange(len(self.kinds), device=distances.device) * len(span) - low
        return rows, distances[:, self.kinds] + offsets

    def _linear(self, weight: Tensor, bias: Tensor, distances: Tensor) -> Tensor:
        """`weight [p_hh; p_ht; p_th; p_tt] + bias`, the p being the encodings of the distances."""
        blocks = dict(zip(self.kinds, weight.split(self.width, dim=1)))
        rows, index = self._per_distance(distances, lambda kind, encoded: encoded @ blocks[kind].t())
        return F.embedding_bag(index, rows, mode="sum") + bias


class FeedForwardFusion(PositionFusion):
    """`ff`: ReLU(W [p_hh; p_ht; p_th; p_tt] + b), the fusion of the paper."""

    def __init__(self, width: int, options: Positions) -> None:
        super().__init__(width, options)
        self.linear = nn.Linear(len(self.kinds) * width, width)

    def plain(self, encodings: List[Tensor]) -> Tensor:
        return self._activate(self.linear(torch.cat([encodings[kind] for kind in self.kinds], dim=-1)))

    def fuse(self, distances: Tensor) -> Tensor:
        return self._activate(self._linear(self.linear.weight, self.linear.bias, distances))

    def _activate(self, fused: Tensor) -> Tensor:
        return fused.relu_()


class TwoDistanceFusion(FeedForwardFusion):
    """`ff_two`: ReLU(W [p_hh; p_tt] + b). Positions that differ in the other distances only are one position here."""

    kinds = (0, KINDS - 1)

    def forward(self, distances: Tensor, projection: Optional[nn.Linear] = None) -> PositionKeys:
        low, high = bounds(distances)
        n = high - low + 1
        codes, lookup = torch.unique((distances[:, 0] - low) * n + distances[:, -1] - low, return_inverse=True)
        heads, tails = codes // n + low, codes % n + low
        keys = super().forward(torch.stack((heads, tails, heads, tails), dim=-1), projection)
        return PositionKeys(keys.vectors, lookup)


class LinearFusion(FeedForwardFusion):
    """`ff_linear`: W [p_hh; p_ht; p_th; p_tt] + b. Being linear, it is projected per distance, not per position."""

    def _activate(self, fused: Tensor) -> Tensor:
        return fused

    def forward(self, distances: Tensor, projection: Optional[nn.Linear] = None) -> PositionKeys:
        if projection is None:
            return PositionKeys(self.fuse(distances))
        weight = projection.weight @ self.linear.weight
        return PositionKeys(self._linear(weight, projection(self.linear.bias), distances))


class AttentionFusion(PositionFusion):
    """`attn`: the sum of a_k (W p_k + b), where a = softmax(W2 ReLU(W1 [p_hh; p_ht; p_th; p_tt] + b1) + b2)."""

    def __init__(self, width: int, options: Positions, hidden_width: Optional[int] = None, n_weights: int = 1) -> None:
        super().__init__(width, options)
        hidden_width = hidden_width or KINDS * width
        self.value = nn.Linear(width, width)
        self.linear = nn.Linear(KINDS * width, hidden_width)
        self.score = nn.Linear(hidden_width, KINDS * n_weights)

    def plain(self, encodings: List[Tensor]) -> Tensor:
        weights = self._weights(self.linear(torch.cat(encodings, dim=-1)))
        return (weights * self.value(torch.stack(encodings, dim=-2))).sum(-2)

    def fuse(self, distances: Tensor) -> Tensor:
        weights = self._weights(self._linear(self.linear.weight, self.linear.bias, distances))
        values, index = self._per_distance(distances, lambda kind, encoded: self.value(encoded))
        return self._sum(weights.to(values.dtype), values, index)

    def _weights(self, hidden: Tensor) -> Tensor:
        """The a: [..., 4, n_weights]."""
        return self.score(torch.relu(hidden)).unflatten(-1, (KINDS, -1)).softmax(-2)

    def _sum(self, weights: Tensor, values: Tensor, index: Tensor) -> Tensor:
        return F.embedding_bag(index, values, mode="sum", per_sample_weights=weights.squeeze(-1))


class GateFusion(AttentionFusion):
    """`gate`: as `attn`, with a weight for each of the H dimensions."""

    def __init__(self, width: int, options: Positions) -> None:
        super().__init__(width, options, 2 * width, width)

    def _sum(self, weights: Tensor, values: Tensor, index: Tensor) -> Tensor:
        return (weights * F.embedding(index, values)).sum(1)


FUSIONS: Dict[str, Callable[[int, Positions], PositionFusion]] = {
    "ff": FeedForwardFusion,
    "ff_linear": LinearFusion,
    "ff_two": TwoDistanceFusion,
    "attn": AttentionFusion,
    "gate": GateFusion,
}


class ScalarPositions(nn.Module):
    """One number per head and pair of spans (V3 of the original code): ReLU(W [t_hh; t_ht; t_th; t_tt] + b), the t
    being learned vectors of one value per head for each distance.
    """

    def __init__(self, heads: int, options: Positions) -> None:
        super().__init__()
        self.max_distance = options.max_distance
        n_tables, n_rows = 1 if options.share_tables else KINDS, 2 * options.max_distance + 1
        self.tables = nn.ParameterList(nn.Parameter(torch.randn(n_rows, heads)) for _ in range(n_tables))
        self.linear = nn.Linear(KINDS * heads, heads)

    def plain(self, distances: Tensor) -> Tensor:
        """The formula, for int64 [..., 4] distances: float [..., heads]."""
        rows = distances.clamp(-self.max_distance, self.max_distance) + self.max_distance
        kinds = [self.tables[kind if len(self.tables) > 1 else 0][rows[..., kind]] for kind in range(KINDS)]
        return self.linear(torch.cat(kinds, dim=-1)).relu()

    def forward(self, positions: DistinctPositions) -> Tensor:
        """The numbers of a batch of B lattices of Q queries and L keys, float [heads, B * Q, L]; 0 for queries that are
        padding."""
        n_lattices, n_queries = positions.shape
        bias = self.linear.weight.new_zeros(self.linear.out_features, n_lattices * n_queries, positions.n_keys)
        for section in positions.sections:
            rows = torch.cat([chunk.rows for chunk in section.chunks])
            triples = torch.cat([chunk.columns[chunk.pairs] for chunk in section.chunks])
            bias = bias.index_copy(1, rows, self.plain(section.distances).t()[:, triples])
        return bias
