"""The heads of BERT's and ERNIE's pretraining: masked wordpieces, next sentence, denoised entities."""

from typing import Any, Dict, NamedTuple, Optional

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoConfig, BertConfig
from transformers.activations import ACT2FN
from transformers.models.bert.modeling_bert import BertOnlyNSPHead, BertPooler, BertPredictionHeadTransform

MASKED, FIRST, MENTION = range(3)
IS_NEXT, IS_RANDOM = 0, 1


class HeadLoss(NamedTuple):
    """The result of a head for a batch."""

    loss: Tensor  # scalar: the mean over the labels; 0 if there are none
    n_correct: Optional[Tensor]  # integer scalar: labels with the best score. None if not counted
    n_labels: int


class Losses(NamedTuple):
    """The results of an objective's heads for a batch: the total loss to train on, and its parts for the log."""

    total: Tensor
    parts: Dict[str, HeadLoss]


def cross_entropy(scores: Tensor, labels: Tensor) -> HeadLoss:
    """Mean cross-entropy in float32 of scores [N, C] with labels int64[N]. Without labels, loss and gradients are 0."""
    if not len(labels):
        return HeadLoss(scores.float().sum() * 0.0, torch.zeros((), dtype=torch.long, device=scores.device), 0)
    hits = (scores.detach().argmax(dim=-1) == labels).sum()
    return HeadLoss(F.cross_entropy(scores.float(), labels), hits, len(labels))


class PretrainingHeads(nn.Module):
    """The masked language model and, optionally, next sentence prediction and entity denoising."""

    def __init__(self, config: Any, *, next_sentence: bool = False, entity_width: int = 0) -> None:
        """Create the heads from the encoder's config. An `entity_width` of 0 means no entities."""
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
    ) -> Losses:
        """Predict what was hidden from the encoder.

        output (Floats[N, H]): Only the vectors to predict from.
        embeddings (Floats[V, H]): The encoder's wordpiece embeddings.
        roles (Ints[N]): What each vector is for: MASKED, FIRST (of a pair of segments) or MENTION.
        labels (Ints[n]): The masked wordpieces.
        next_labels (Ints[p]): IS_NEXT or IS_RANDOM for each pair of segments.
        candidates (Optional[Floats[C, D]]): Vectors of the batch's distinct entities, after a row of zeros.
        entity_labels (Ints[m]): Rows of `candidates`.
        RETURNS (Losses): The unweighted sum of the losses, as in BERT and ERNIE, and its parts.
        """
        parts = {"masked_lm": cross_entropy(self.masked_lm(output[roles == MASKED], embeddings), labels)}
        if self.next_sentence is not None:
            scores = self.next_sentence(output[roles == FIRST].unsqueeze(1))
            parts["next_sentence"] = cross_entropy(scores, next_labels)
        if self.entity is not None and candidates is not None:
            parts["entity"] = cross_entropy(self.entity(output[roles == MENTION], candidates), entity_labels)
        return Losses(torch.stack([part.loss for part in parts.values()]).sum(), parts)


def build_pretraining_heads(settings: Dict[str, Any]) -> PretrainingHeads:
    """Build heads with random weights. `settings` is plain JSON: under "encoder" what `config_settings` returns, under
    "heads" the other arguments of PretrainingHeads."""
    return PretrainingHeads(AutoConfig.for_model(**settings["encoder"]), **settings["heads"])


class MaskedLMHead(nn.Module):
    """Predicts the masked wordpieces (Devlin et al. 2019, section 3.1).

    The decoder is tied: it is the encoder's own table of wordpiece embeddings, passed to each call, so that the
    parameter belongs to only one module. Only masked positions are decoded: with a vocabulary of 21,128, the scores of
    all positions would be the largest tensor of the training step.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.transform = BertPredictionHeadTransform(config)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        _initialize(self.transform, config.initializer_range)

    def forward(self, hidden: Tensor, embeddings: Tensor) -> Tensor:
        """Score the vocabulary at the masked positions: [N, H] and wordpiece embeddings [V, H] give [N, V]."""
        return F.linear(self.transform(hidden), embeddings, self.bias)


class NextSentenceHead(nn.Module):
    """Predicts from the first position whether the second segment follows the first or is random (Devlin et al. 2019,
    section 3.1). It includes BERT's pooler, which the encoders here leave out since token vectors do not need it."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.pooler = BertPooler(config)
        self.classifier = BertOnlyNSPHead(config)
        _initialize(self, config.initializer_range)

    def forward(self, hidden: Tensor) -> Tensor:
        """Score IS_NEXT and IS_RANDOM, [B, 2], from the encoder's output [B, L, H]; only the first position is read."""
        return self.classifier(self.pooler(hidden))


class DenoisingEntityHead(nn.Module):
    """Predicts the entity of a mention from the text stream (Zhang et al. 2019, section 3.4).

        scores = LayerNorm(act(W h + b)) · candidatesᵀ

    The candidates are the distinct entities of the batch; as in the authors' code the first of them is the zero vector
    of "no entity", a class that is never right. H is `width`, D `entity_width`.
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
        super().__init__()
        self.dense = nn.Linear(width, entity_width)
        self.activation = ACT2FN[activation]
        self.norm = nn.LayerNorm(entity_width, eps=layer_norm_eps)
        _initialize(self, initializer_range)

    def forward(self, hidden: Tensor, candidates: Tensor) -> Tensor:
        """Score the candidates, [C, D] with zeros in row 0, for the first wordpiece of each mention, [N, H]: [N, C]."""
        return self.norm(self.activation(self.dense(hidden))) @ candidates.to(hidden.dtype).T


def _initialize(module: nn.Module, initializer_range: float) -> None:
    """Initialize the linear layers of a head as BERT does."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, std=initializer_range)
            nn.init.zeros_(layer.bias)
