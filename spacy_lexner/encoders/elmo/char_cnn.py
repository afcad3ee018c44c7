"""The character CNN of ELMo: a vector for a word from its characters (Kim et al. 2016; Peters et al. 2018)."""

from math import sqrt
from typing import Literal, Sequence

import torch
from torch import Tensor, nn

Activation = Literal["relu", "tanh"]
ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


class CharacterCNN(nn.Module):
    """Embed characters, convolve them at several widths, take each filter's maximum, apply highway layers and project.

    A word is a row of character ids, filled up with `pad_id`, the last id. As in the original, padding is a trained
    character that takes part in convolution and maximum. `filters` are pairs of filter width and number of filters;
    there is no projection if `projection_dim` is the number of filters. The activation follows the maximum.
    """

    def __init__(
        self,
        n_characters: int,
        embedding_dim: int,
        filters: Sequence[Sequence[int]],
        n_highway: int,
        projection_dim: int,
        pad_id: int,
        activation: Activation = "relu",
    ):
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(f"The activation is {activation!r}; expected one of {', '.join(ACTIVATIONS)}.")
        n_filters = sum(number for _, number in filters)
        self.pad_id = pad_id
        self.widest = max(width for width, _ in filters)
        self.activation = activation
        self.embedding = nn.Embedding(n_characters, embedding_dim, padding_idx=0)
        self.convolutions = nn.ModuleList(nn.Conv1d(embedding_dim, number, width) for width, number in filters)
        self.highway = Highway(n_filters, n_highway)
        self.projection = nn.Linear(n_filters, projection_dim) if n_filters != projection_dim else nn.Identity()
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights as the original biLM trainer does."""
        nn.init.uniform_(self.embedding.weight, -1.0, 1.0)
        with torch.no_grad():
            self.embedding.weight[0] = 0.0
        for convolution in self.convolutions:
            assert isinstance(convolution, nn.Conv1d) and convolution.bias is not None
            if self.activation == "relu":
                nn.init.uniform_(convolution.weight, -0.05, 0.05)
            else:
                nn.init.normal_(convolution.weight, std=1 / sqrt(convolution.in_channels * convolution.kernel_size[0]))
            nn.init.zeros_(convolution.bias)
        if isinstance(self.projection, nn.Linear):
            nn.init.normal_(self.projection.weight, std=1 / sqrt(self.projection.in_features))
            nn.init.zeros_(self.projection.bias)

    def pool(self, characters: Tensor) -> Tensor:
        """Compute the activated maximum of each filter over a word: ids [n_words, length] to [n_words, n_filters]."""
        # Windows of padding alone are all equal: one of them is enough for the maximum.
        ends = (characters != self.pad_id).any(dim=0).nonzero()
        longest = int(ends[-1]) + 1 if len(ends) else 0
        embedded = self.embedding(characters[:, : longest + self.widest]).transpose(1, 2)
        # `max` keeps one index per filter for the backward pass, where `amax` would keep the whole convolution.
        pooled = [convolution(embedded).max(dim=2).values for convolution in self.convolutions]
        return ACTIVATIONS[self.activation](torch.cat(pooled, dim=1))

    def forward(self, characters: Tensor) -> Tensor:
        """Turn ids, int64 [n_words, length], with length at least the widest filter, into [n_words, projection_dim]."""
        return self.projection(self.highway(self.pool(characters)))


class Highway(nn.Module):
    """Highway layers (Srivastava et al. 2015): y = g * x + (1 - g) * relu(W x + b) with g = sigmoid(V x + c)."""

    def __init__(self, width: int, n_layers: int):
        super().__init__()
        # One product computes both: first W x + b, then V x + c.
        self.layers = nn.ModuleList(nn.Linear(width, 2 * width) for _ in range(n_layers))
        for layer in self.layers:  # as in the original biLM trainer: initially, mostly the input is carried
            assert isinstance(layer, nn.Linear)
            nn.init.normal_(layer.weight, std=1 / sqrt(width))
            nn.init.zeros_(layer.bias[:width])
            nn.init.constant_(layer.bias[width:], 2.0)

    def forward(self, x: Tensor) -> Tensor:
        """Transform x, of shape [..., width], without changing its shape; with 0 layers, return it."""
        for layer in self.layers:
            transformed, carry = layer(x).chunk(2, dim=-1)
            x = torch.lerp(transformed.relu(), x, carry.sigmoid())
        return x
