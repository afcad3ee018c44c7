"""The encoder of FLAT: a transformer whose tokens are spans of a text."""

from typing import List, Optional

from torch import Tensor, nn

from .attention import LatticeAttention
from .encoder_layer import FeedForward, FlatLayer, Steps
from .position_encoding import DistanceEncoding
from .position_fusion import PositionFusion, create_fusion
from .relative_positions import RelativePositions
from .scalar_positions import ScalarPositions

POSITIONS = ("relative", "scalar", "none")


class FlatEncoder(nn.Module):
    """Layers of attention over lattices, and what they share: the fusion of positions."""

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        layers: int = 1,
        inner_width: Optional[int] = None,
        activation: str = "relu",
        positions: str = "relative",
        fusion: str = "ff",
        share_fusion: bool = True,
        share_tables: bool = True,
        learn_positions: bool = False,
        max_distance: int = 512,
        distance_offset: int = 0,
        normalize_positions: bool = False,
        scaled: bool = False,
        project_queries: bool = True,
        project_keys: bool = False,
        project_values: bool = True,
        project_positions: bool = True,
        project_output: bool = False,
        pre: str = "",
        post: str = "an",
        residual: bool = True,
        shared_norm: bool = False,
        pre_dropout: float = 0.5,
        post_dropout: float = 0.3,
        attention_dropout: float = 0.0,
        inner_dropout: float = 0.15,
        inner_output_dropout: Optional[float] = None,
    ) -> None:
        """Create the encoder.

        width (int): H, width of the vectors, a multiple of `heads`.
        heads (int): Number of attention heads.
        layers (int): Number of layers.
        inner_width (Optional[int]): Width inside the feed-forward sub-layers, 3 * H if None.
        activation (str): `relu`, `leaky` or `gelu`.
        positions (str): `relative`; `scalar`, a learned number per head and pair (see `ScalarPositions`); or `none`.
        fusion (str): How four distances become one vector: `ff`, `ff_linear`, `ff_two`, `attn` or `gate`.
        share_fusion (bool): One fusion for all layers.
        share_tables (bool): One table for the four distances, where tables are learned.
        learn_positions (bool): Learn tables of distances, instead of fixed sinusoids (`scalar` always learns).
        max_distance (int): Farthest distance in a learned table. Sinusoids have no such limit.
        distance_offset (int): Added to distances before they are encoded (see `DistanceEncoding`).
        normalize_positions (bool): Divide encodings by the sum of their values.
        scaled, project_queries, project_keys, project_values, project_positions, project_output: See
            `LatticeAttention`.
        pre, post, residual, shared_norm, pre_dropout, post_dropout: See `FlatLayer`. `residual=False` with
            `shared_norm=True` is what the original code computes.
        attention_dropout (float): Dropout of attention weights.
        inner_dropout (float): Dropout inside the feed-forward sub-layers, before the activation.
        inner_output_dropout (Optional[float]): Dropout of their output, `inner_dropout` if None.
        """
        super().__init__()
        if positions not in POSITIONS:
            raise ValueError(f"Unknown positions {positions!r}. Known are: {', '.join(POSITIONS)}.")
        if layers < 1:
            raise ValueError(f"The encoder needs at least 1 layer, not {layers}.")

        def fuse() -> PositionFusion:
            encoding = DistanceEncoding(
                width,
                learned=learn_positions,
                shared=share_tables,
                max_distance=max_distance,
                offset=distance_offset,
                normalize=normalize_positions,
            )
            return create_fusion(fusion, width, encoding)

        self.bias = (
            ScalarPositions(heads, shared=share_tables, max_distance=max_distance) if positions == "scalar" else None
        )
        shared = fuse() if positions == "relative" and share_fusion else None
        self.layers = nn.ModuleList()
        for _ in range(layers):
            attention = LatticeAttention(
                width,
                heads,
                fusion=shared or (fuse() if positions == "relative" else None),
                scaled=scaled,
                project_queries=project_queries,
                project_keys=project_keys,
                project_values=project_values,
                project_positions=project_positions,
                project_output=project_output,
                dropout=attention_dropout,
            )
            feed_forward = FeedForward(
                width,
                3 * width if inner_width is None else inner_width,
                activation,
                inner_dropout,
                inner_dropout if inner_output_dropout is None else inner_output_dropout,
            )
            self.layers.append(
                FlatLayer(
                    width,
                    attention,
                    feed_forward,
                    pre=pre,
                    post=post,
                    pre_dropout=pre_dropout,
                    post_dropout=post_dropout,
                    residual=residual,
                    shared_norm=shared_norm,
                )
            )
        self.final = Steps(pre, width, 0.0)  # what is normalised before each sub-layer is normalised at the end

    def forward(
        self, tokens: Tensor, starts: Tensor, ends: Tensor, mask: Tensor, record: Optional[List[Tensor]] = None
    ) -> Tensor:
        """Encode a batch of lattices.

        tokens (torch.Tensor): float [B, L, H], in any order.
        starts (torch.Tensor): int64 [B, L], first position of each token's span.
        ends (torch.Tensor): int64 [B, L], last position (inclusive).
        mask (torch.Tensor): bool [B, L], False for padding.
        record (Optional[List[torch.Tensor]]): If given, each layer appends its attention weights, in the mean over the
            heads, float [B, L, L].
        RETURNS (torch.Tensor): float [B, L, H]; finite, but meaningless, for padding.
        """
        positions = RelativePositions(starts, ends, mask)
        bias = self.bias(positions) if self.bias is not None else None
        for layer in self.layers:
            tokens = layer(tokens, mask, positions, bias, record)
        return self.final(tokens)
