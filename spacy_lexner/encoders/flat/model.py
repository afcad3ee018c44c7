"""FLAT, the flat-lattice transformer (Li et al. 2020: FLAT: Chinese NER Using Flat-Lattice Transformer)."""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from ..shared.words import Words
from .embedding import AbsolutePositions, LatticeEmbedding
from .encoder import FlatEncoder
from .options import Attention, Embedding, Positions, SubLayers

KEPT_PAIRS = 2**22  # pairs of tokens whose activations are kept for the backward pass: half a GB with eight heads


class FlatBatch(NamedTuple):
    """A padded batch of B texts of up to N characters with up to M words.

    characters (torch.Tensor): int64 [B, N], 0 for padding.
    kept (torch.Tensor): int64 [K], which of the B * N vectors are wanted.
    bigrams (Optional[torch.Tensor]): int64 [B, N], 0 for padding.
    words (Optional[Words]): The U distinct words; None for lattices of characters alone, and so are the next three.
    word_ids (Optional[torch.Tensor]): int64 [B, M], 0 for padding, else 1 + the number of the distinct word.
    word_starts, word_ends (Optional[torch.Tensor]): int64 [B, M], the half-open span of each word on the characters.
    tokens (Optional[torch.Tensor]): int64 [B, N], the contextual vector of each character.
    record (Optional[List[torch.Tensor]]): If given, each layer appends its attention weights, in the mean over the
        heads, float [B, N + M, N + M].
    """

    characters: Tensor
    kept: Tensor
    bigrams: Optional[Tensor] = None
    words: Optional[Words] = None
    word_ids: Optional[Tensor] = None
    word_starts: Optional[Tensor] = None
    word_ends: Optional[Tensor] = None
    tokens: Optional[Tensor] = None
    record: Optional[List[Tensor]] = None

    @property
    def n_pairs(self) -> int:
        """RETURNS (int): Pairs of tokens of the lattices, padding included."""
        n_words = 0 if self.word_ids is None else self.word_ids.shape[1]
        return len(self.characters) * (self.characters.shape[1] + n_words) ** 2


class Flat(nn.Module):
    """Embedding, positions and encoder: from characters and words to a vector for each character."""

    def __init__(
        self,
        embedding: LatticeEmbedding,
        encoder: FlatEncoder,
        *,
        absolute: Optional[AbsolutePositions] = None,
        output_dropout: float = 0.0,
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

    def forward(self, batches: Sequence[FlatBatch], contextual: Optional[Tensor] = None) -> Tensor:
        """Encode batches one after the other. Where they are too many for all their activations to be kept, those of
        the later ones are computed again in the backward pass.

        batches (Sequence[FlatBatch]): The batches.
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
        """Encode a batch.

        batch (FlatBatch): The batch.
        contextual (Optional[torch.Tensor]): float [T, C].
        RETURNS (torch.Tensor): float [B, N, H], meaningless for padding.
        """
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
        lattice = self.embedding.drop_at("after_positions", lattice)
        return self.output_dropout(self.encoder(lattice, starts, ends, mask, batch.record)[:, :n_characters])

    def _encode_kept(self, batch: FlatBatch, contextual: Optional[Tensor]) -> Tensor:
        return self.encode(batch, contextual).flatten(0, 1)[batch.kept]


def build_flat(settings: Dict[str, Any]) -> Flat:
    """Build a model with random weights.

    settings (Dict[str, Any]): Plain JSON: "width", "heads", "layers"; under "tables" the sizes that LatticeEmbedding
        takes; the blocks "embedding", "positions", "attention" and "sublayers".
    RETURNS (Flat): The model.
    """
    width, positions = settings["width"], Positions.read(settings["positions"])
    attention, sublayers = Attention.read(settings["attention"]), SubLayers.read(settings["sublayers"])
    return Flat(
        LatticeEmbedding(width, **settings["tables"], options=Embedding.read(settings["embedding"])),
        FlatEncoder(width, settings["heads"], settings["layers"], positions, attention, sublayers),
        absolute=None if positions.absolute is None else AbsolutePositions(width, positions),
        output_dropout=sublayers.output_dropout,
    )
