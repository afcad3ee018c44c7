"""Fusion of the four distances between two spans into one vector (Li et al. 2020, equation 9), and its variants.

A fusion sees the distinct relative positions of a batch, never its pairs of tokens. Its first linear layer is a sum of
one product per kind of distance, and there are only as many distances as positions in a text: so that layer is computed
per distance, and its rows are added up per relative position.
"""

from typing import Callable, Dict, NamedTuple, Optional, Tuple, Type

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .position_encoding import KINDS, DistanceEncoding


class PositionKeys(NamedTuple):
    """What queries are scored against: a vector for each relative position.

    vectors (torch.Tensor): float [n, H].
    lookup (Optional[torch.Tensor]): int64 [u], the row of each of the u positions; None if they are the rows.
    """

    vectors: Tensor
    lookup: Optional[Tensor] = None


class PositionFusion(nn.Module):
    """Base of the fusions."""

    kinds: Tuple[int, ...] = tuple(range(KINDS))

    def __init__(self, width: int, encoding: DistanceEncoding) -> None:
        """Create the fusion.

        width (int): H, width of the fused vectors.
        encoding (DistanceEncoding): The encoding of a distance.
        """
        super().__init__()
        self.width = width
        self.encoding = encoding

    def fuse(self, distances: Tensor) -> Tensor:
        """Fuse distances.

        distances (torch.Tensor): int64 [u, 4], rows of s_i - s_j, s_i - e_j, e_i - s_j, e_i - e_j.
        RETURNS (torch.Tensor): float [u, H].
        """
        raise NotImplementedError

    def forward(self, distances: Tensor, projection: Optional[nn.Linear] = None) -> PositionKeys:
        """Fuse distances and project the result: W_r R + b_r.

        distances (torch.Tensor): int64 [u, 4].
        projection (Optional[torch.nn.Linear]): W_r; None leaves the fused vectors as they are.
        RETURNS (PositionKeys): A vector for each row.
        """
        fused = self.fuse(distances)
        return PositionKeys(fused if projection is None else projection(fused))

    def _per_distance(self, distances: Tensor, compute: Callable[[int, Tensor], Tensor]) -> Tuple[Tensor, Tensor]:
        """What depends on one distance alone, computed once for each.

        compute (Callable[[int, Tensor], Tensor]): From the kind of distance and encodings [n, E] to rows [n, *].
        RETURNS (Tuple[Tensor, Tensor]): The rows of all kinds, and int64 [u, kinds] that says where each distance has
            its own.
        """
        low, high = int(distances.amin()), int(distances.amax())
        span = torch.arange(low, high + 1, device=distances.device)
        rows = torch.cat([compute(kind, self.encoding(span, kind)) for kind in self.kinds])
        offsets = torch.arange(len(self.kinds), device=distances.device) * len(span) - low
        return rows, distances[:, self.kinds] + offsets

    def _linear(self, weight: Tensor, bias: Tensor, distances: Tensor) -> Tensor:
        """`weight [p_ss; p_se; p_es; p_ee] + bias`, the p being the encodings of the distances."""
        blocks = dict(zip(self.kinds, weight.split(self.encoding.width, dim=1)))
        rows, index = self._per_distance(distances, lambda kind, encoded: encoded @ blocks[kind].t())
        return F.embedding_bag(index, rows, mode="sum") + bias


class FeedForwardFusion(PositionFusion):
    """`ff`: ReLU(W [p_ss; p_se; p_es; p_ee] + b), the fusion of the paper."""

    def __init__(self, width: int, encoding: DistanceEncoding) -> None:
        super().__init__(width, encoding)
        self.linear = nn.Linear(len(self.kinds) * encoding.width, width)

    def fuse(self, distances: Tensor) -> Tensor:
        return self._linear(self.linear.weight, self.linear.bias, distances).relu_()


class TwoDistanceFusion(FeedForwardFusion):
    """`ff_two`: ReLU(W [p_ss; p_ee] + b). Positions that differ in the other distances only are one position here."""

    kinds = (0, KINDS - 1)

    def forward(self, distances: Tensor, projection: Optional[nn.Linear] = None) -> PositionKeys:
        low, high = int(distances.amin()), int(distances.amax())
        n = high - low + 1
        codes, lookup = torch.unique((distances[:, 0] - low) * n + distances[:, -1] - low, return_inverse=True)
        start, end = codes // n + low, codes % n + low
        keys = super().forward(torch.stack((start, end, start, end), dim=-1), projection)
        return PositionKeys(keys.vectors, lookup)


class LinearFusion(FeedForwardFusion):
    """`ff_linear`: W [p_ss; p_se; p_es; p_ee] + b. Being linear, it is projected per distance, not per position."""

    def fuse(self, distances: Tensor) -> Tensor:
        return self._linear(self.linear.weight, self.linear.bias, distances)

    def forward(self, distances: Tensor, projection: Optional[nn.Linear] = None) -> PositionKeys:
        if projection is None:
            return PositionKeys(self.fuse(distances))
        weight = projection.weight @ self.linear.weight
        return PositionKeys(self._linear(weight, projection(self.linear.bias), distances))


class AttentionFusion(PositionFusion):
    """`attn`: the sum of a_k (W p_k + b), where a = softmax(W2 ReLU(W1 [p_ss; p_se; p_es; p_ee] + b1) + b2)."""

    def __init__(self, width: int, encoding: DistanceEncoding) -> None:
        super().__init__(width, encoding)
        self.value = nn.Linear(encoding.width, width)
        self.linear = nn.Linear(KINDS * encoding.width, KINDS * width)
        self.score = nn.Linear(KINDS * width, KINDS)

    def fuse(self, distances: Tensor) -> Tensor:
        hidden = self._linear(self.linear.weight, self.linear.bias, distances).relu_()
        weights = self.score(hidden).softmax(-1)
        values, index = self._per_distance(distances, lambda kind, encoded: self.value(encoded))
        return F.embedding_bag(index, values, mode="sum", per_sample_weights=weights.to(values.dtype))


class GateFusion(PositionFusion):
    """`gate`: as `attn`, with a weight for each of the H dimensions."""

    def __init__(self, width: int, encoding: DistanceEncoding) -> None:
        super().__init__(width, encoding)
        self.value = nn.Linear(encoding.width, width)
        self.linear = nn.Linear(KINDS * encoding.width, 2 * width)
        self.score = nn.Linear(2 * width, KINDS * width)

    def fuse(self, distances: Tensor) -> Tensor:
        hidden = self._linear(self.linear.weight, self.linear.bias, distances).relu_()
        gates = self.score(hidden).view(-1, KINDS, self.width).softmax(1)
        values, index = self._per_distance(distances, lambda kind, encoded: self.value(encoded))
        return (gates * F.embedding(index, values)).sum(1)


FUSIONS: Dict[str, Type[PositionFusion]] = {
    "ff": FeedForwardFusion,
    "ff_linear": LinearFusion,
    "ff_two": TwoDistanceFusion,
    "attn": AttentionFusion,
    "gate": GateFusion,
}
