"""All the heads of a pretraining objective as one module, which gives one loss."""

from typing import Any, Dict, NamedTuple, Optional

import torch
from torch import Tensor, nn
from transformers import AutoConfig

from .denoising_entity import DenoisingEntityHead
from .masked_lm import HeadLoss, MaskedLMHead
from .next_sentence import NextSentenceHead

MASKED, FIRST, MENTION = range(3)


class HeadLosses(NamedTuple):
    """What each head reports; None where there is no such head."""

    masked_lm: HeadLoss
    next_sentence: Optional[HeadLoss]
    entity: Optional[HeadLoss]

    @property
    def total(self) -> Tensor:
        """RETURNS (Tensor): The unweighted sum, as in BERT and ERNIE."""
        return torch.stack([part.loss for part in self if part is not None]).sum()


class PretrainingHeads(nn.Module):
    """The masked language model, next sentence prediction and the denoising of entities, as far as they are wanted."""

    def __init__(self, config: Any, *, next_sentence: bool = False, entity_width: int = 0) -> None:
        """Create the heads.

        config (PretrainedConfig): The encoder's settings.
        next_sentence (bool): Whether pairs of segments are told apart.
        entity_width (int): Width of the entity vectors; 0 without entities.
        """
        super().__init__()
        self.masked_lm = MaskedLMHead(config)
        self.next_sentence = NextSentenceHead(config) if next_sentence else None
        self.entity = None
        if entity_width:
            self.entity = DenoisingEntityHead(
                config.hidden_size,
                entity_width,
                activation=config.hidden_act,
                layer_norm_eps=config.layer_norm_eps,
                initializer_range=config.initializer_range,
            )

    def forward(
        self,
        *,
        output: Tensor,
        embeddings: Tensor,
        roles: Tensor,
        labels: Tensor,
        next_labels: Tensor,
        candidates: Optional[Tensor],
        entity_labels: Tensor,
    ) -> HeadLosses:
        """Compare the encoder's output with what was hidden from it.

        output (Floats[N, H]): The vectors that are wanted, and no others.
        embeddings (Floats[V, H]): The encoder's wordpiece embeddings.
        roles (Ints[N]): What each vector is for: MASKED, FIRST (of a pair of segments) or MENTION.
        labels (Ints[n]): The wordpieces that were masked.
        next_labels (Ints[p]): Whether the second segment is the next one or random.
        candidates (Optional[Floats[C, D]]): The vectors of the batch's distinct entities, after a row of zeros.
        entity_labels (Ints[m]): Rows of `candidates`.
        RETURNS (HeadLosses): The losses and hits of all heads.
        """
        masked_lm = self.masked_lm.loss(output[roles == MASKED], embeddings, labels)
        next_sentence = entity = None
        if self.next_sentence is not None:
            next_sentence = self.next_sentence.loss(output[roles == FIRST].unsqueeze(1), next_labels)
        if self.entity is not None and candidates is not None:
            entity = self.entity.loss(output[roles == MENTION], candidates, entity_labels)
        return HeadLosses(masked_lm, next_sentence, entity)


def build_pretraining_heads(settings: Dict[str, Any]) -> PretrainingHeads:
    """Build the heads with random weights.

    settings (Dict[str, Any]): Plain JSON: under "encoder" what `config_settings` gives, under "heads" the other
        arguments of PretrainingHeads.
    RETURNS (PretrainingHeads): The module.
    """
    return PretrainingHeads(AutoConfig.for_model(**settings["encoder"]), **settings["heads"])
