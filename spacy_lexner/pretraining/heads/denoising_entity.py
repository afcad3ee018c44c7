"""ERNIE's denoising entity auto-encoder: which entity belongs to this mention?"""

import torch
from torch import nn
from transformers.activations import ACT2FN

from .masked_lm import HeadLoss, cross_entropy


class DenoisingEntityHead(nn.Module):
    """Predicts the entity of a mention from the text stream (Zhang et al. 2019, section 3.4).

        scores = LayerNorm(act(W h + b)) · candidatesᵀ

    The candidates are the distinct entities of the batch; as in the authors' code the first of them is the zero vector
    of "no entity", a class that is never right.
    """

    def __init__(
        self,
        width: int,
        entity_width: int,
        *,
        activation: str = "gelu",
        layer_norm_eps: float = 1e-12,
        initializer_range: float = 0.02,
    ) -> None:
        """Create the head.

        width (int): Width H of the text stream.
        entity_width (int): Width D of the entity vectors.
        activation (str): A name known to transformers.
        layer_norm_eps (float): Epsilon of the layer norm.
        initializer_range (float): Standard deviation of the initial weights.
        """
        super().__init__()
        self.dense = nn.Linear(width, entity_width)
        self.activation = ACT2FN[activation]
        self.norm = nn.LayerNorm(entity_width, eps=layer_norm_eps)
        nn.init.normal_(self.dense.weight, std=initializer_range)
        nn.init.zeros_(self.dense.bias)

    def forward(self, hidden: torch.Tensor, candidates: torch.Tensor) -> torch.Tensor:
        """Score the candidates.

        hidden (Floats[N, H]): The text stream at the first wordpieces of the mentions.
        candidates (Floats[C, D]): Vectors of the batch's distinct entities, after a row of zeros.
        RETURNS (Floats[N, C]): Scores.
        """
        return self.norm(self.activation(self.dense(hidden))) @ candidates.to(hidden.dtype).T

    def loss(self, hidden: torch.Tensor, candidates: torch.Tensor, labels: torch.Tensor) -> HeadLoss:
        """Compare with the entities before they were corrupted.

        hidden (Floats[N, H]): The text stream at the first wordpieces of the mentions.
        candidates (Floats[C, D]): Vectors of the batch's distinct entities, after a row of zeros.
        labels (Ints[N]): Rows of `candidates`.
        RETURNS (HeadLoss): Mean cross-entropy and hits. A batch without entities has the loss 0.
        """
        return cross_entropy(self(hidden, candidates), labels)
