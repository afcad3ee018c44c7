"""Relative positions as one number per head and pair, the cheapest form (the "V3" of the original code)."""

import torch
from torch import Tensor, nn

from .options import Positions
from .position_encoding import KINDS
from .relative_positions import RelativePositions


class ScalarPositions(nn.Module):
    """A bias for attention scores: ReLU(W [t_ss; t_se; t_es; t_ee] + b), the t being learned vectors of one value per
    head for each distance.
    """

    def __init__(self, heads: int, options: Positions) -> None:
        """Create the bias.

        heads (int): Number of attention heads.
        options (Positions): Options, of which `share_tables` and `max_distance` count.
        """
        super().__init__()
        self.max_distance = options.max_distance
        n_rows = 2 * options.max_distance + 1
        self.tables = nn.ParameterList(
            nn.Parameter(torch.randn(n_rows, heads)) for _ in range(1 if options.share_tables else KINDS)
        )
        self.linear = nn.Linear(KINDS * heads, heads)

    def forward(self, positions: RelativePositions) -> Tensor:
        """Compute the bias of a batch.

        positions (RelativePositions): The relative positions of B lattices of L tokens.
        RETURNS (torch.Tensor): float [heads, B * L, L]; 0 for queries that are padding.
        """
        n_lattices, n_tokens = positions.shape
        bias = self.linear.weight.new_zeros(self.linear.out_features, n_lattices * n_tokens, n_tokens)
        for section in positions.sections:
            rows = torch.cat([chunk.rows for chunk in section.chunks])
            triples = torch.cat([chunk.columns[chunk.pairs] for chunk in section.chunks])
            bias = bias.index_copy(1, rows, self._table(section.distances)[:, triples])
        return bias

    def _table(self, distances: Tensor) -> Tensor:
        """The bias of distinct positions: float [heads, u]."""
        rows = distances.clamp(-self.max_distance, self.max_distance) + self.max_distance
        kinds = [self.tables[kind if len(self.tables) > 1 else 0][rows[:, kind]] for kind in range(KINDS)]
        return self.linear(torch.cat(kinds, dim=-1)).relu().t()
