"""Highway layers: each mixes its input with a transformed input, by a learned gate (Srivastava et al. 2015)."""

from math import sqrt

import torch
from torch import Tensor, nn


class Highway(nn.Module):
    """A stack of highway layers, y = g * x + (1 - g) * relu(W x + b) with g = sigmoid(V x + c).

    width (int): Width of input and output.
    n_layers (int): Number of layers; 0 gives the input back.
    """

    def __init__(self, width: int, n_layers: int):
        super().__init__()
        # One product gives both halves: the transformed input first, the gate that carries the input second.
        self.layers = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(n_layers))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights as the original biLM trainer does: at first, mostly the input is carried."""
        for layer in self.layers:
            assert isinstance(layer, nn.Linear)
            width = layer.in_features
            nn.init.normal_(layer.weight, std=1 / sqrt(width))
            nn.init.zeros_(layer.bias[:width])
            nn.init.constant_(layer.bias[width:], 2.0)

    def forward(self, x: Tensor) -> Tensor:
        """x (Tensor): Shape [..., width].
        RETURNS (Tensor): Shape [..., width].
        """
        for layer in self.layers:
            transformed, carry = layer(x).chunk(2, dim=-1)
            x = torch.lerp(transformed.relu(), x, carry.sigmoid())
        return x
