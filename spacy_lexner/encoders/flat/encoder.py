"""The encoder of FLAT: a transformer whose tokens are spans of a text."""

from typing import Any, Callable, List, Optional

from torch import Tensor, nn

from .attention import LatticeAttention
from .distinct_positions import DistinctPositions
from .options import Attention, Positions, SubLayers
from .positions import FUSIONS, PositionFusion, ScalarPositions

ACTIVATIONS = {"relu": nn.ReLU, "leaky": nn.LeakyReLU, "gelu": nn.GELU}


class FeedForward(nn.Module):
    """W_2 activation(dropout(W_1 x + b_1)) + b_2, and dropout: the first dropout stands before the activation."""

    def __init__(self, width: int, options: SubLayers) -> None:
        super().__init__()
        inner_width = 3 * width if options.inner_width is None else options.inner_width
        output_dropout = options.inner_dropout if options.inner_output_dropout is None else options.inner_output_dropout
        self.inner = nn.Linear(width, inner_width)
        self.outer = nn.Linear(inner_width, width)
        self.activation = ACTIVATIONS[options.activation]()
        self.dropout = nn.Dropout(options.inner_dropout)
        self.output_dropout = nn.Dropout(output_dropout)
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output_dropout(self.outer(self.activation(self.dropout(self.inner(tokens)))))


class FlatLayer(nn.Module):
    """Attention and feed-forward, each with normalization, dropout and what is added to its output."""

    def __init__(self, width: int, attention: LatticeAttention, options: SubLayers) -> None:
        """Create the layer.

        width (int): H, width of the vectors.
        attention (LatticeAttention): The first sub-layer.
        options (SubLayers): Of the second, and of what stands around both.
        """
        super().__init__()
        self.norm_first, self.residual = options.norm == "pre", options.residual
        self.attention = attention
        self.feed_forward = FeedForward(width, options)
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward_norm = self.attention_norm if options.shared_norm else nn.LayerNorm(width)
        self.dropout = nn.Dropout(options.dropout)

    def forward(self, tokens: Tensor, *lattice: Any) -> Tensor:
        """Run the layer. For the arguments and the result see `LatticeAttention`."""
        tokens = self._run(lambda x: self.attention(x, *lattice), self.attention_norm, tokens)
        return self._run(self.feed_forward, self.feed_forward_norm, tokens)

    def _run(self, sub_layer: Callable[[Tensor], Tensor], norm: nn.Module, tokens: Tensor) -> Tensor:
        output = sub_layer(norm(tokens) if self.norm_first else tokens)
        added = {"input": tokens, "output": output, "none": None}[self.residual]
        output = self.dropout(output)
        output = output if added is None else output + added
        return output if self.norm_first else norm(output)


class FlatEncoder(nn.Module):
    """Layers of attention over lattices, and what they share: the fusion of positions."""

    def __init__(
        self,
        width: int,
        heads: int,
        layers: int = 1,
        positions: Positions = Positions(),  # noqa: B008 (frozen)
        attention: Attention = Attention(),  # noqa: B008
        sublayers: SubLayers = SubLayers(),  # noqa: B008
    ) -> None:
        """Create the encoder.

        width (int): H, width of the vectors, a multiple of `heads`.
        heads (int): Number of attention heads.
        layers (int): Number of layers.
        positions, attention, sublayers (Positions, Attention, SubLayers): Options.
        """
        super().__init__()
        if layers < 1:
            raise ValueError(f"The encoder needs at least 1 layer, not {layers}.")

        def fuse() -> Optional[PositionFusion]:
            if positions.kind != "relative":
                return None
            return FUSIONS[positions.fusion](width, positions)

        self.bias = ScalarPositions(heads, positions) if positions.kind == "scalar" else None
        shared = fuse() if positions.share_fusion else None
        self.layers = nn.ModuleList(
            FlatLayer(width, LatticeAttention(width, heads, shared or fuse(), attention), sublayers)
            for _ in range(layers)
        )
        self.final_norm = nn.LayerNorm(width) if sublayers.norm == "pre" else nn.Identity()

    def forward(
        self, tokens: Tensor, starts: Tensor, ends: Tensor, mask: Tensor, record: Optional[List[Tensor]] = None
    ) -> Tensor:
        """Encode a batch of lattices.

        tokens (torch.Tensor): float [B, L, H], in any order.
        starts, ends (torch.Tensor): int64 [B, L], the half-open span of each token.
        mask (torch.Tensor): bool [B, L], False for padding.
        record (Optional[List[torch.Tensor]]): If given, each layer appends its attention weights, in the mean over the
            heads, float [B, L, L].
        RETURNS (torch.Tensor): float [B, L, H]; finite, but meaningless, for padding.
        """
        positions = DistinctPositions(starts, ends, mask)
        bias = self.bias(positions) if self.bias is not None else None
        for layer in self.layers:
            tokens = layer(tokens, mask, positions, bias, record)
        return self.final_norm(tokens)
