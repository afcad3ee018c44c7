"""FLAT, the flat-lattice transformer (Li et al. 2020: FLAT: Chinese NER Using Flat-Lattice Transformer)."""

from typing import Optional

import torch
from torch import Tensor, nn

from .absolute_positions import AbsolutePositions
from .flat_layer import FeedForward, FlatLayer, Steps
from .lattice_attention import LatticeAttention
from .lattice_embedding import LatticeEmbedding
from .position_encoding import DistanceEncoding
from .position_fusion import PositionFusion, create_fusion
from .relative_positions import RelativePositions
from .scalar_positions import ScalarPositions
from .word_vectors import Words

POSITIONS = ("relative", "scalar", "none")


class FlatEncoder(nn.Module):
    """A transformer whose tokens are spans of a text."""

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

    def forward(self, tokens: Tensor, starts: Tensor, ends: Tensor, mask: Tensor) -> Tensor:
        """Encode a batch of lattices.

        tokens (torch.Tensor): float [B, L, H], in any order.
        starts (torch.Tensor): int64 [B, L], first position of each token's span.
        ends (torch.Tensor): int64 [B, L], last position (inclusive).
        mask (torch.Tensor): bool [B, L], False for padding.
        RETURNS (torch.Tensor): float [B, L, H]; finite, but meaningless, for padding.
        """
        positions = RelativePositions(starts, ends, mask)
        bias = self.bias(positions) if self.bias is not None else None
        for layer in self.layers:
            tokens = layer(tokens, mask, positions, bias)
        return self.final(tokens)


class Flat(nn.Module):
    """Embedding, positions and encoder: from characters and words to a vector for each character."""

    def __init__(
        self,
        embedding: LatticeEmbedding,
        encoder: FlatEncoder,
        *,
        absolute: Optional[AbsolutePositions] = None,
        output_dropout: float = 0.3,
    ) -> None:
        """Create the model.

        embedding (LatticeEmbedding): The embedding.
        encoder (FlatEncoder): The encoder.
        absolute (Optional[AbsolutePositions]): Absolute positions, added to the embedding.
        output_dropout (float): Dropout of the result.
        """
        super().__init__()
        self.embedding = embedding
        self.absolute = absolute
        self.encoder = encoder
        self.output_dropout = nn.Dropout(output_dropout)

    def forward(
        self,
        characters: Tensor,
        bigrams: Optional[Tensor] = None,
        words: Optional[Words] = None,
        word_ids: Optional[Tensor] = None,
        word_starts: Optional[Tensor] = None,
        word_ends: Optional[Tensor] = None,
        contextual: Optional[Tensor] = None,
    ) -> Tensor:
        """Encode a batch of B texts of up to N characters with up to M words.

        characters (torch.Tensor): int64 [B, N], 0 for padding.
        bigrams (Optional[torch.Tensor]): int64 [B, N], 0 for padding.
        words (Optional[Words]): The U distinct words of the batch; None for a lattice of characters.
        word_ids (Optional[torch.Tensor]): int64 [B, M], 0 for padding, else 1 + the number of the distinct word.
        word_starts (Optional[torch.Tensor]): int64 [B, M], first character of each word.
        word_ends (Optional[torch.Tensor]): int64 [B, M], last character (inclusive).
        contextual (Optional[torch.Tensor]): float [B, N, C].
        RETURNS (torch.Tensor): float [B, N, H].
        """
        lattice = self.embedding(characters, bigrams, words, word_ids, contextual)
        n_texts, n_characters = characters.shape
        starts = torch.arange(n_characters, device=characters.device).expand(n_texts, -1)
        ends, mask = starts, characters != 0
        if word_ids is not None and word_starts is not None and word_ends is not None:
            starts = torch.cat((starts, word_starts), dim=1)
            ends = torch.cat((ends, word_ends), dim=1)
            mask = torch.cat((mask, word_ids != 0), dim=1)
        if self.absolute is not None:
            lattice = self.absolute(lattice, starts, ends)
        lattice = self.embedding.drop_at("after_positions", lattice)
        return self.output_dropout(self.encoder(lattice, starts, ends, mask)[:, :n_characters])
