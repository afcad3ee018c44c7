"""The scalar mix of ELMo: a learned, weighted sum of layers (Peters et al. 2018, equation 1)."""

from typing import Literal, Optional, Sequence

import torch
from torch import Tensor, nn

Norm = Literal["batch", "token"]
NORMS = ("batch", "token")
EPSILON = 1e-13


class ScalarMix(nn.Module):
    """gamma * sum over layers of softmax(s)_k * layer_k, with trained scalars s and gamma.

    n_layers (int): Number of layers.
    norm (Optional[str]): Normalise each layer to mean 0 and variance 1 before mixing: "batch" with one mean and one
        variance over all values of the batch, as in the original (a result then depends on the other Docs of its
        batch); "token" over the values of each token. No trained scale or shift.
    weights (Optional[Sequence[float]]): The scalars s, fixed; gamma is then fixed as well. By default they are
        trained from zeros: a plain mean at first.
    """

    def __init__(self, n_layers: int, norm: Optional[Norm] = None, weights: Optional[Sequence[float]] = None):
        super().__init__()
        if norm is not None and norm not in NORMS:
            raise ValueError(f"Unknown norm {norm!r} of the scalar mix: use one of {list(NORMS)}, or null.")
        if weights is not None and len(weights) != n_layers:
            raise ValueError(
                f"The scalar mix got {len(weights)} weights for {n_layers} layers: one for each is needed."
            )
        initial = torch.zeros(n_layers) if weights is None else torch.tensor([float(weight) for weight in weights])
        self.norm = norm
        self.scalars = nn.Parameter(initial, requires_grad=weights is None)
        self.gamma = nn.Parameter(torch.ones(1), requires_grad=weights is None)

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        """layers (Sequence[Tensor]): One tensor [..., width] for each layer; no row is padding.
        RETURNS (Tensor): Shape [..., width].
        """
        weights = self.gamma * torch.softmax(self.scalars, dim=0)
        mixed = weights[0] * self._normalize(layers[0])
        for weight, layer in zip(weights[1:], layers[1:]):
            mixed = mixed + weight * self._normalize(layer)
        return mixed

    def _normalize(self, layer: Tensor) -> Tensor:
        if self.norm is None or not layer.numel():
            return layer
        dims = list(range(layer.dim())) if self.norm == "batch" else [-1]
        centred = layer - layer.mean(dims, keepdim=True)
        return centred / (centred.square().mean(dims, keepdim=True) + EPSILON).sqrt()
