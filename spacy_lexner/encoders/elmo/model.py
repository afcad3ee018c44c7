"""ELMo: word vectors from characters, a bidirectional language model over them, mixed layers (Peters et al. 2018)."""

from typing import Literal, Optional, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from .bilm import BiLM, unpack
from .char_cnn import CharacterCNN
from .packing import pack

Norm = Literal["batch", "token"]
NORMS = ("batch", "token")
EPSILON = 1e-13
WORDS_AT_ONCE = 256


class ELMo(nn.Module):
    """Contextual vectors for words, from their characters alone.

    The character CNN does not see the context, so it runs once for each distinct word of a batch.

    mixes (Sequence[ScalarMix]): One or more mixes of the layers; their results are concatenated.
    mix_layers (Sequence[int]): The layers to mix; layer 0 is the word vector, twice.
    dropout (float): Dropout of the mixed values.
    freeze (bool): Train only the mixes.
    """

    def __init__(
        self,
        characters: CharacterCNN,
        bilm: BiLM,
        mixes: Sequence["ScalarMix"],
        mix_layers: Sequence[int],
        *,
        dropout: float = 0.0,
        freeze: bool = True,
    ):
        super().__init__()
        self.characters = characters
        self.bilm = bilm
        self.mixes = nn.ModuleList(mixes)
        self.mix_layers = list(mix_layers)
        self.dropout = dropout
        self.freeze = freeze

    @property
    def width(self) -> int:
        """Width of the output."""
        return 2 * self.bilm.projection_dim * len(self.mixes)

    def forward(self, characters: Tensor, rows: Tensor, lengths: Tensor, top_only: bool = False) -> Tensor:
        """Encode a ragged batch.

        characters (Tensor): Character ids of the distinct words [n_words, length], int64.
        rows (Tensor): The word of each row of the batch, int64 [n_rows].
        lengths (Tensor): Lengths of the sequences, int64 on the CPU, each at least 1.
        top_only (bool): Return the last layer instead of the mixes, trained even if `freeze` is set. The language model
            predicts from it: the first half of a row has read the words up to this row, the second half those from this
            row on.
        RETURNS (Tensor): Shape [n_rows, width], or [n_rows, 2 * projection_dim] for the last layer.
        """
        packing = pack(lengths)
        trained = top_only or not self.freeze
        self.bilm.train(self.training and trained)
        embed, run = self.embed, self.bilm.blocks
        if not trained:
            embed, run = torch.no_grad()(embed), torch.no_grad()(run)
        blocks = run(embed(characters), packing, rows)
        if top_only:
            return unpack(torch.cat([layers[-1] for layers in blocks], dim=1), packing)
        if any(mix.norm == "batch" for mix in self.mixes):  # it needs the mean over the whole batch
            blocks = iter([[torch.cat(parts, dim=1) for parts in zip(*blocks)]])
        mixed = ([mix([layers[number] for number in self.mix_layers]) for mix in self.mixes] for layers in blocks)
        output = torch.cat([unpack(torch.cat(parts, dim=1), packing) for parts in zip(*mixed)], dim=1)
        return dropout(output, self.dropout, self.training)

    def embed(self, characters: Tensor) -> Tensor:
        """Embed words in batches of WORDS_AT_ONCE: ids [n_words, length] to vectors [n_words, projection_dim]."""
        # Words of similar length run together, so that the CNN can drop more padding.
        order = (characters != self.characters.pad_id).sum(dim=1).argsort()
        words = torch.cat([self.characters(part) for part in characters[order].split(WORDS_AT_ONCE)])
        return words[order.argsort()]


class ScalarMix(nn.Module):
    """gamma * sum over layers of softmax(s)_k * layer_k, with trained scalars s and gamma (equation 1 of the paper).

    norm (Optional[str]): Normalise each layer to mean 0 and variance 1 before mixing, without scale or shift: "batch",
        over all values of the batch, as in the original (a result then depends on the other Docs); "token", over those
        of each token.
    weights (Optional[Sequence[float]]): Fixed scalars s; gamma is then fixed as well. By default they are trained from
        zeros: a plain mean at first.
    """

    def __init__(self, n_layers: int, norm: Optional[Norm] = None, weights: Optional[Sequence[float]] = None):
        super().__init__()
        if norm is not None and norm not in NORMS:
            raise ValueError(f"The norm of the scalar mix is {norm!r}; expected one of {', '.join(NORMS)}, or null.")
        if weights is not None and len(weights) != n_layers:
            raise ValueError(f"The scalar mix has {len(weights)} weights for {n_layers} layers; expected one for each.")
        initial = torch.zeros(n_layers) if weights is None else torch.tensor([float(weight) for weight in weights])
        self.norm = norm
        self.scalars = nn.Parameter(initial, requires_grad=weights is None)
        self.gamma = nn.Parameter(torch.ones(1), requires_grad=weights is None)

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        """Mix tensors [..., width], one for each layer and without padding rows, into one of that shape."""
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
