"""FLAT, the flat-lattice transformer (Li et al. 2020: FLAT: Chinese NER Using Flat-Lattice Transformer)."""

from functools import partial
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from ..shared.vocab import check_tables, load_vocab
from ..shared.words import Words, check_words
from .attention import LatticeAttention
from .distinct_positions import DistinctPositions
from .embedding import AbsolutePositions, LatticeEmbedding
from .options import Attention, Embedding, Positions, SubLayers
from .positions import FUSIONS, PositionFusion, ScalarPositions

KEPT_PAIRS = 2**22  # pairs of tokens whose activations are kept for the backward pass: half a GB with eight heads
ACTIVATIONS: Dict[str, Callable[[], nn.Module]] = {
    "relu": partial(nn.ReLU, inplace=True),
    "leaky": nn.LeakyReLU,
    "gelu": nn.GELU,
}


class FlatBatch(NamedTuple):
    """A padded batch of B texts of up to N characters with up to M words; all integers int64."""

    characters: Tensor  # [B, N], 0 for padding
    kept: Tensor  # [K], which of the B * N vectors are wanted
    bigrams: Optional[Tensor] = None  # [B, N], 0 for padding
    words: Optional[Words] = None  # the U distinct words; None for characters alone, and so are the next three
    word_ids: Optional[Tensor] = None  # [B, M], 0 for padding, else 1 + the number of the distinct word
    word_starts: Optional[Tensor] = None  # [B, M], the half-open span of each word on the characters
    word_ends: Optional[Tensor] = None
    tokens: Optional[Tensor] = None  # [B, N], the contextual vector of each character
    record: Optional[List[Tensor]] = None  # receives each layer's mean weights of the heads, float [B, Q, N + M]; Q is
    # N + M, in the last layer N

    @property
    def n_pairs(self) -> int:
        """Pairs of tokens of the lattices, padding included."""
        n_words = 0 if self.word_ids is None else self.word_ids.shape[1]
        return len(self.characters) * (self.characters.shape[1] + n_words) ** 2


class FeedForward(nn.Module):
    """W_2 activation(dropout(W_1 x + b_1)) + b_2, and dropout: the first dropout precedes the activation."""

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
        super().__init__()
        self.norm_first, self.residual = options.norm == "pre", options.residual
        self.attention = attention
        self.feed_forward = FeedForward(width, options)
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward_norm = self.attention_norm if options.shared_norm else nn.LayerNorm(width)
        self.dropout = nn.Dropout(options.dropout)

    def forward(self, tokens: Tensor, *lattice: Any) -> Tensor:
        """For the arguments and the result see `LatticeAttention`."""
        tokens = self._run(lambda x: self.attention(x, *lattice), self.attention_norm, tokens)
        return self._run(self.feed_forward, self.feed_forward_norm, tokens)

    def _run(self, sub_layer: Callable[[Tensor], Tensor], norm: nn.Module, tokens: Tensor) -> Tensor:
        output = sub_layer(norm(tokens) if self.norm_first else tokens)
        added = {"input": tokens[:, : output.shape[1]], "output": output, "none": None}[self.residual]
        output = self.dropout(output)
        output = output if added is None else output + added
        return output if self.norm_first else norm(output)


class LatticeEncoder(nn.Module):
    """Layers of attention over lattices of vectors of one width, and what they may share: the fusion of positions."""

    def __init__(
        self,
        width: int,
        heads: int,
        layers: int = 1,
        positions: Positions = Positions(),  # noqa: B008 (frozen)
        attention: Attention = Attention(),  # noqa: B008
        sublayers: SubLayers = SubLayers(),  # noqa: B008
    ) -> None:
        super().__init__()
        if layers < 1:
            raise ValueError(f"The encoder needs at least 1 layer, not {layers}.")

        def fuse() -> Optional[PositionFusion]:
            return FUSIONS[positions.fusion](width, positions) if positions.kind == "relative" else None

        self.bias = ScalarPositions(heads, positions) if positions.kind == "scalar" else None
        shared = fuse() if positions.share_fusion else None
        self.layers = nn.ModuleList(
            FlatLayer(width, LatticeAttention(width, heads, shared or fuse(), attention), sublayers)
            for _ in range(layers)
        )
        self.final_norm = nn.LayerNorm(width) if sublayers.norm == "pre" else nn.Identity()

    def forward(
        self,
        tokens: Tensor,
        starts: Tensor,
        ends: Tensor,
        mask: Tensor,
        record: Optional[List[Tensor]] = None,
        n_wanted: Optional[int] = None,
    ) -> Tensor:
        """Encode lattices whose tokens, in any order, have the half-open spans `starts` to `ends`, int64 [B, L]. With
        `n_wanted`, only the first tokens of each, this many, get a vector in the last layer. For the other arguments
        and the result see `LatticeAttention`."""
        *inner, last = self.layers
        if inner:
            lattice = self._positions(starts, ends, mask)
            for layer in inner:
                tokens = layer(tokens, mask, *lattice, record)
        return self.final_norm(last(tokens, mask, *self._positions(starts, ends, mask, n_wanted), record))

    def _positions(self, *lattice: Any) -> Tuple[DistinctPositions, Optional[Tensor]]:
        positions = DistinctPositions(*lattice)
        return positions, None if self.bias is None else self.bias(positions)


class Flat(nn.Module):
    """Embedding, absolute positions if any, and encoder: from characters and words to a vector for each character."""

    def __init__(
        self,
        embedding: LatticeEmbedding,
        encoder: LatticeEncoder,
        *,
        absolute: Optional[AbsolutePositions] = None,
        output_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.absolute = absolute
        self.encoder = encoder
        self.output_dropout = nn.Dropout(output_dropout)

    def forward(self, batches: Sequence[FlatBatch], contextual: Optional[Tensor] = None) -> Tensor:
        """Encode batches one after the other. Where they are too many for all their activations to be kept, those of
        the later ones are computed again in the backward pass.

        contextual (Optional[torch.Tensor]): float [T, C], where the model has contextual vectors.
        RETURNS (torch.Tensor): float [K, H], the vectors kept, in the order of the batches.
        """
        parts, n_pairs = [], 0
        for batch in batches:
            n_pairs += batch.n_pairs
            if torch.is_grad_enabled() and n_pairs > KEPT_PAIRS:
                parts.append(checkpoint(self._encode_kept, batch, contextual, use_reentrant=False))
            else:
                parts.append(self._encode_kept(batch, contextual))
        return torch.cat(parts)

    def encode(self, batch: FlatBatch, contextual: Optional[Tensor] = None) -> Tensor:
        """RETURNS (torch.Tensor): The vectors of a batch's characters, float [B, N, H], meaningless for padding."""
        n_texts, n_characters = batch.characters.shape
        context = None if contextual is None or batch.tokens is None else contextual[batch.tokens]
        lattice = self.embedding(batch.characters, batch.bigrams, batch.words, batch.word_ids, context)
        starts = torch.arange(n_characters, device=batch.characters.device).expand(n_texts, -1)
        ends, mask = starts + 1, batch.characters != 0
        if batch.word_ids is not None and batch.word_starts is not None and batch.word_ends is not None:
            starts = torch.cat((starts, batch.word_starts), dim=1)
            ends = torch.cat((ends, batch.word_ends), dim=1)
            mask = torch.cat((mask, batch.word_ids != 0), dim=1)
        if self.absolute is not None:
            lattice = self.absolute(lattice, starts, ends)
        lattice = self.embedding.drop("after_positions", lattice, self.embedding.character_dropout)
        return self.output_dropout(self.encoder(lattice, starts, ends, mask, batch.record, n_characters))

    def _encode_kept(self, batch: FlatBatch, contextual: Optional[Tensor]) -> Tensor:
        return self.encode(batch, contextual).flatten(0, 1).index_select(0, batch.kept)


def build_flat(settings: Dict[str, Any]) -> Flat:
    """Build a model with random weights from plain JSON: "width", "heads", "layers"; under "tables" the sizes that
    LatticeEmbedding takes; the blocks "embedding", "positions", "attention" and "sublayers". Raises ValueError if a
    "vocab" needs other tables."""
    check_words(settings)
    if "vocab" in settings:
        check_tables(load_vocab(settings["vocab"]), settings["tables"])
    width, positions = settings["width"], Positions.read(settings["positions"])
    attention, sublayers = Attention.read(settings["attention"]), SubLayers.read(settings["sublayers"])
    return Flat(
        LatticeEmbedding(width, **settings["tables"], options=Embedding.read(settings["embedding"])),
        LatticeEncoder(width, settings["heads"], settings["layers"], positions, attention, sublayers),
        absolute=None if positions.absolute is None else AbsolutePositions(width, positions),
        output_dropout=sublayers.output_dropout,
    )
