"""Vectors for distances: sinusoids, computed for any distance, or learned tables."""

import math
from typing import Optional

import torch
from torch import Tensor, nn

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

    def __init__(
        self,
        width: int,
        *,
        learned: bool = False,
        shared: bool = True,
        max_distance: int = 512,
        offset: int = 0,
        normalize: bool = False,
    ) -> None:
        """Create the encoding.

        width (int): Width of a vector, at least 4.
        learned (bool): Learn tables that start as the sinusoids, instead of keeping to the sinusoids.
        shared (bool): One learned table for the four kinds of distance, or one for each.
        max_distance (int): Farthest distance that a learned table tells apart.
        offset (int): Added to a distance before it is encoded. 0 encodes the signed distance; the original code
            effectively added the length of its longest training sentence.
        normalize (bool): Divide a vector by the sum of its values, as the original's `pos_norm` does.
        """
        super().__init__()
        if width < 4:
            raise ValueError(f"Distances are encoded in at least 4 values, not {width}: raise the hidden width.")
        self.width = width
        self.max_distance = max_distance
        self.offset = offset
        self.normalize = normalize
        self.tables: Optional[nn.ParameterList] = None
        if learned:
            if max_distance < 1:
                raise ValueError(f"Learned positions need max_distance of at least 1, not {max_distance}.")
            start = self._sinusoids(torch.arange(-max_distance, max_distance + 1))
            self.tables = nn.ParameterList(nn.Parameter(start.clone()) for _ in range(1 if shared else KINDS))

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
