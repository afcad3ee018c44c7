"""Vectors for distances: sinusoids, computed for any distance, or learned tables."""

import math
from typing import Optional

import torch
from torch import Tensor, nn

from .options import Positions

KINDS = 4  # start-start, start-end, end-start, end-end


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Encode positions as sines (first half) and cosines (second half) of geometrically falling frequencies, as in
    tensor2tensor: `frequency[k] = 10000 ** (-k / (width // 2 - 1))`. An odd width ends in a zero.

    positions (torch.Tensor): [...], any integers or floats, negative ones too.
    width (int): Width of a vector, at least 4.
    RETURNS (torch.Tensor): float32 [..., width].
    """
    half = width // 2
    steps = torch.arange(half, dtype=torch.float32, device=positions.device)
    angles = positions.to(torch.float32).unsqueeze(-1) * torch.exp(steps * -(math.log(10000.0) / (half - 1)))
    encoded = torch.cat((angles.sin(), angles.cos()), dim=-1)
    return nn.functional.pad(encoded, (0, 1)) if width % 2 else encoded


class DistanceEncoding(nn.Module):
    """The encoding of the four distances between two spans, before they are fused (Li et al. 2020, equation 8).

    Fixed sinusoids know no longest distance. Learned tables have one row per distance up to `max_distance` and treat
    whatever lies beyond as that.
    """

    def __init__(self, width: int, options: Positions = Positions()) -> None:  # noqa: B008 (frozen)
        """Create the encoding.

        width (int): Width of a vector, at least 4.
        options (Positions): Options.
        """
        super().__init__()
        if width < 4:
            raise ValueError(f"Distances are encoded in at least 4 values, not {width}: raise the hidden width.")
        self.width = width
        self.max_distance = options.max_distance
        self.offset = options.offset
        self.normalize = options.normalize
        self.tables: Optional[nn.ParameterList] = None
        if options.learned:
            start = self._sinusoids(torch.arange(-options.max_distance, options.max_distance + 1))
            n_tables = 1 if options.share_tables else KINDS
            self.tables = nn.ParameterList(nn.Parameter(start.clone()) for _ in range(n_tables))

    def forward(self, distances: Tensor, kind: int) -> Tensor:
        """Encode distances of one kind.

        distances (torch.Tensor): int64 [n].
        kind (int): 0 start-start, 1 start-end, 2 end-start, 3 end-end.
        RETURNS (torch.Tensor): float32 [n, width].
        """
        if self.tables is None:
            return self._sinusoids(distances)
        table = self.tables[kind if len(self.tables) > 1 else 0]
        return table[distances.clamp(-self.max_distance, self.max_distance) + self.max_distance]

    def _sinusoids(self, distances: Tensor) -> Tensor:
        encoded = sinusoids(distances + self.offset, self.width)
        return encoded / encoded.sum(-1, keepdim=True) if self.normalize else encoded
