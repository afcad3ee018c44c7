"""ERNIE for batches of windows: entities as numbers, their vectors given or fine-tuned."""

import math
from typing import Any, Dict, NamedTuple, Optional, Sequence

import torch
from torch import Tensor, nn

from ..shared.bert_shaped import build_encoder
from .model import ErnieEncoder


class ERNIEBatch(NamedTuple):
    """A padded batch of wordpiece sequences.

    input_ids (Tensor): Wordpieces, int64 [B, L].
    attention_mask (Tensor): False at padding, bool [B, L].
    kept (Tensor): Which of the B * L vectors are wanted, int64 [N].
    entities (Tensor): The entity aligned to each wordpiece, 0 for none, u for the u-th, int64 [B, L].
    vectors (Tensor): Vectors of the U distinct entities, after a row of zeros, float [1 + U, D].
    tuned (Tensor): Their rows in the fine-tuned table, -1 for those that are not in it, int64 [1 + U].
    segments (Optional[Tensor]): Of pairs of texts, 1 at the second one, int64 [B, L]; none is all 0.
    """

    input_ids: Tensor
    attention_mask: Tensor
    kept: Tensor
    entities: Tensor
    vectors: Tensor
    tuned: Tensor
    segments: Optional[Tensor] = None


class ERNIE(nn.Module):
    """The encoder of ERNIE, and a table of entities that are trained with it.

    text (nn.Module): A BERT-shaped model.
    layer_types, entity_width, entity_heads: See ErnieEncoder.
    n_tuned (int): Number of fine-tuned entities; 0 leaves all as they are given.
    gradient_checkpointing (bool): Compute each layer again in the backward pass instead of keeping its activations.
    """

    def __init__(
        self,
        text: nn.Module,
        layer_types: Sequence[str],
        *,
        entity_width: int,
        entity_heads: int,
        n_tuned: int = 0,
        gradient_checkpointing: bool = False,
    ) -> None:
        super().__init__()
        self.encoder = ErnieEncoder(text, layer_types, entity_width=entity_width, entity_heads=entity_heads)
        self.encoder.gradient_checkpointing = gradient_checkpointing
        bound = math.sqrt(3.0 / entity_width)
        self.tuned = nn.Parameter(torch.empty(n_tuned, entity_width).uniform_(-bound, bound))
        self.register_buffer("tuned_hashes", torch.zeros(n_tuned, dtype=torch.int64))

    def forward(self, batches: Sequence[ERNIEBatch]) -> Tensor:
        """Encode batches one after the other.

        batches (Sequence[ERNIEBatch]): The batches, each padded to its own length.
        RETURNS (Tensor): The vectors kept, in the order of the batches, float [N, H].
        """
        return torch.cat([self._encode(batch).flatten(0, 1)[batch.kept] for batch in batches])

    def entity_vectors(self, vectors: Tensor, tuned: Tensor) -> Tensor:
        """Put fine-tuned vectors in the place of given ones.

        vectors (Tensor): float [1 + U, D].
        tuned (Tensor): int64 [1 + U].
        RETURNS (Tensor): float [1 + U, D].
        """
        if not len(self.tuned):
            return vectors
        return torch.where((tuned >= 0).unsqueeze(-1), self.tuned[tuned.clamp(min=0)], vectors)

    def _encode(self, batch: ERNIEBatch) -> Tensor:
        vectors = self.entity_vectors(batch.vectors, batch.tuned)
        segments = torch.zeros_like(batch.input_ids) if batch.segments is None else batch.segments
        streams = self.encoder(
            batch.input_ids, batch.attention_mask, segments, vectors[batch.entities], batch.entities > 0
        )
        return streams.text


def build_ernie(settings: Dict[str, Any]) -> ERNIE:
    """Build an ERNIE with random weights.

    settings (Dict[str, Any]): Plain JSON: under "encoder" what `config_settings` gives, under "ernie" the other
        arguments of ERNIE.
    RETURNS (ERNIE): The module.
    """
    return ERNIE(build_encoder(settings["encoder"]), **settings["ernie"])
