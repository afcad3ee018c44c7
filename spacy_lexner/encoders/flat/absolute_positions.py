"""Absolute positions of spans, beside relative ones or instead of them."""

from typing import Optional

import torch
from torch import Tensor, nn

from .options import Positions
from .position_encoding import sinusoids


def _perceptron(n_in: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(n_in, width), nn.LeakyReLU(), nn.Linear(width, width))


class AbsolutePositions(nn.Module):
    """Tell each token of a lattice where its span starts and ends.

    With x a token's vector, s and e the encodings of its first and last position, L a linear layer and F a perceptron
    of two layers with a leaky ReLU between them:

    | name | result |
    |---|---|
    | `add` | x + s + e |
    | `concat` | L [x; s; e] |
    | `nonlinear_add` | x + F [s; e] |
    | `nonlinear_concat` | L [x; F [s; e]] |
    | `add_nonlinear` | F (x + s + e) |
    | `concat_nonlinear` | F [x; s; e] |
    """

    def __init__(self, width: int, options: Positions) -> None:
        """Create the layer.

        width (int): H, width of the vectors.
        options (Positions): Options, of which `absolute`, `learned`, `max_distance` and `normalize` count.
        """
        super().__init__()
        fusion = options.absolute
        if fusion is None:
            raise ValueError("These options have no absolute positions: set `absolute`.")
        self.width = width
        self.fusion = fusion
        self.normalize = options.normalize
        self.max_position = options.max_distance
        self.tables: Optional[nn.ParameterList] = None
        if options.learned:
            start = self._sinusoids(torch.arange(self.max_position + 1))
            self.tables = nn.ParameterList(nn.Parameter(start.clone()) for _ in range(2))
        self.position: nn.Module = nn.Identity()
        self.output: nn.Module = nn.Identity()
        if fusion in ("nonlinear_add", "nonlinear_concat"):
            self.position = _perceptron(2 * width, width)
        if fusion in ("concat", "nonlinear_concat"):
            self.output = nn.Linear((2 if fusion == "nonlinear_concat" else 3) * width, width)
        elif fusion in ("add_nonlinear", "concat_nonlinear"):
            self.output = _perceptron((1 if fusion == "add_nonlinear" else 3) * width, width)

    def forward(self, vectors: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """Add the positions.

        vectors (torch.Tensor): float [B, L, H].
        starts (torch.Tensor): int64 [B, L], first position of each span.
        ends (torch.Tensor): int64 [B, L], last position (inclusive).
        RETURNS (torch.Tensor): float [B, L, H].
        """
        start, end = self._encode(starts, 0), self._encode(ends, 1)
        if self.fusion in ("add", "add_nonlinear"):
            return self.output(vectors + start + end)
        positions = self.position(torch.cat((start, end), dim=-1))
        if self.fusion == "nonlinear_add":
            return vectors + positions
        return self.output(torch.cat((vectors, positions), dim=-1))

    def _encode(self, positions: Tensor, which: int) -> Tensor:
        if self.tables is None:
            return self._sinusoids(positions)
        return self.tables[which][positions.clamp(0, self.max_position)]

    def _sinusoids(self, positions: Tensor) -> Tensor:
        encoded = sinusoids(positions, self.width)
        return encoded / encoded.sum(-1, keepdim=True) if self.normalize else encoded
