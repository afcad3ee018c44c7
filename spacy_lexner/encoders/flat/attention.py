"""Self-attention over a lattice with relative positions of spans (Li et al. 2020, equations 10 and 11)."""

import math
from functools import partial
from typing import List, Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from .distinct_positions import DistinctPositions, Section
from .options import Attention
from .position_scores import PositionCache, position_scores
from .positions import KINDS, PositionFusion, PositionKeys, pair_distances


class LatticeAttention(nn.Module):
    """Multi-head self-attention of the tokens of a lattice. `plain` is the formula; `forward` computes the same, dozens
    of times faster and in a fraction of the memory.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        fusion: Optional[PositionFusion] = None,
        options: Attention = Attention(),  # noqa: B008 (frozen)
    ) -> None:
        """`heads` divide the width, H. The fusion of relative positions may be shared with other layers; without one,
        R, u and v are absent."""
        super().__init__()
        if heads < 1 or width % heads:
            raise ValueError(f"The hidden width ({width}) must be a multiple of the number of heads ({heads}).")
        self.heads = heads
        self.scale = 1.0 / math.sqrt(width // heads) if options.scaled else 1.0
        self.query = _projection(width, options.project_queries)
        self.key = _projection(width, options.project_keys)
        self.value = _projection(width, options.project_values)
        self.output = _projection(width, options.project_output)
        self.dropout = nn.Dropout(options.dropout)
        self.fusion = fusion
        self.cache = PositionCache()
        if fusion is not None:
            self.position = _projection(width, options.project_positions)
            self.content_bias = nn.Parameter(nn.init.xavier_uniform_(torch.empty(heads, width // heads)))  # u
            self.position_bias = nn.Parameter(nn.init.xavier_uniform_(torch.empty(heads, width // heads)))  # v

    def plain(self, tokens: Tensor, mask: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """Compute the formula, with a vector for every pair of tokens: with q_i = W_q x_i, k_j = W_k x_j and
        r_ij = W_r R_ij + b_r, the output is the mean of W_v x_j under softmax(A), where

        A_ij = q_i . k_j  +  q_i . r_ij  +  u . k_j  +  v . r_ij

        For the arguments see `forward`; starts and ends are the half-open spans of the tokens, int64 [B, L].
        """
        q, k, v = (project(tokens).unflatten(-1, (self.heads, -1)) for project in (self.query, self.key, self.value))
        scores = torch.einsum("bihd,bjhd->bhij", q, k)
        if self.fusion is not None:
            distances = pair_distances(starts, ends)
            encodings = [self.fusion.encoding(distances[..., kind], kind) for kind in range(KINDS)]
            r = self.position(self.fusion.plain(encodings)).unflatten(-1, (self.heads, -1))
            scores = scores + torch.einsum("bihd,bijhd->bhij", q, r)
            scores = scores + torch.einsum("hd,bjhd->bhj", self.content_bias, k).unsqueeze(2)
            scores = scores + torch.einsum("hd,bijhd->bhij", self.position_bias, r)
        scores = (scores * self.scale).masked_fill(~mask[:, None, None], -1e15)
        attended = torch.einsum("bhij,bjhd->bihd", self.dropout(scores.softmax(-1)), v)
        return self.output(attended.flatten(2))

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor,
        positions: DistinctPositions,
        bias: Optional[Tensor] = None,
        record: Optional[List[Tensor]] = None,
    ) -> Tensor:
        """Let the first Q tokens of each lattice attend to all, with A_ij = (q_i + u) . k_j + (q_i + v) . r_ij.

        tokens (torch.Tensor): float [B, L, H].
        mask (torch.Tensor): bool [B, L], False for padding.
        positions (DistinctPositions): The relative positions of the tokens, and which tokens are queries.
        bias (Optional[torch.Tensor]): float [heads, B * Q, L], added to the scores after they are scaled.
        record (Optional[List[torch.Tensor]]): If given, receives the mean weights of the heads, float [B, Q, L].
        RETURNS (torch.Tensor): float [B, Q, H]; finite, but meaningless, for padding.
        """
        query = self._split(self.query(tokens[:, : positions.n_queries]))
        key, value = self._split(self.key(tokens)), self._split(self.value(tokens))
        query = query * self.scale
        content = query
        added = torch.zeros_like(mask, dtype=query.dtype).masked_fill_(~mask, torch.finfo(query.dtype).min / 2)
        added = added[:, None, None]  # to the scores: [B, heads, Q, L] once all is in it
        if self.fusion is not None:
            content, positional = (
                query + (vector.unsqueeze(1) * self.scale).to(query.dtype)  # which under autocast is half precision
                for vector in (self.content_bias, self.position_bias)
            )
            added = self._by_lattice(self._score_positions(positional, positions), positions).add_(added)
        elif bias is not None:
            added = self._by_lattice(bias, positions) + added  # which all layers share
        if record is None and not torch.is_grad_enabled():  # what torch does in one step keeps nothing for gradients
            dropout = self.dropout.p if self.training else 0.0
            attended = F.scaled_dot_product_attention(content, key, value, added, dropout, scale=1.0)
        else:
            weights = (content @ key.transpose(2, 3)).add_(added).softmax(-1)
            if record is not None:
                record.append(weights.mean(1))
            attended = self.dropout(weights) @ value
        return self.output(attended.transpose(1, 2).flatten(2))

    def _split(self, tokens: Tensor) -> Tensor:
        """[B, L, H] as [B, heads, L, H / heads]."""
        return tokens.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def _by_lattice(self, scores: Tensor, positions: DistinctPositions) -> Tensor:
        """[heads, B * Q, L] as [B, heads, Q, L]."""
        return scores.unflatten(1, positions.shape).transpose(0, 1)

    def _score_positions(self, queries: Tensor, positions: DistinctPositions) -> Tensor:
        """The second term of the scores: [heads, B * Q, L], given q + v, [B, heads, Q, d]. Where many positions would
        need much memory in training, it is computed section by section, and again in the backward pass."""
        n_keys = positions.n_keys
        queries = queries.transpose(0, 1).flatten(1, 2)

        def score(section: Section, queries: Tensor) -> Tensor:
            return position_scores(queries, self._keys(section), section, n_keys)

        if len(positions.sections) == 1:
            return score(positions.sections[0], queries)
        scores = queries.new_zeros(self.heads, queries.shape[1], n_keys)
        for section in positions.sections:
            if torch.is_grad_enabled():
                scores = scores + checkpoint(score, section, queries, use_reentrant=False)
            else:
                scores += score(section, queries)
        return scores

    def _keys(self, section: Section) -> PositionKeys:
        assert self.fusion is not None
        projection = self.position if isinstance(self.position, nn.Linear) else None
        compute = partial(self.fusion, projection=projection)
        if self.training or torch.is_grad_enabled():
            self.cache.clear()
            return compute(section.distances)
        parameters = [*self.fusion.parameters(), *self.position.parameters()]
        cached = self.cache.keys(section.triples, parameters, self.content_bias.numel(), compute)
        return compute(section.distances) if cached is None else cached


def _projection(width: int, used: bool) -> nn.Module:
    if not used:
        return nn.Identity()
    projection = nn.Linear(width, width)
    nn.init.xavier_uniform_(projection.weight)
    return projection
