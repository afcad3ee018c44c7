"""BERT's masked language model head, computed for the masked positions alone."""

from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F
from transformers import BertConfig
from transformers.models.bert.modeling_bert import BertPredictionHeadTransform


class HeadLoss(NamedTuple):
    """What a pretraining head reports of a batch."""

    loss: torch.Tensor  # a scalar, the mean over the labelled rows; 0 without any
    n_correct: torch.Tensor  # a whole number: rows whose best score is the label's
    n_labels: int


class MaskedLMHead(nn.Module):
    """Predicts the wordpieces that were masked (Devlin et al. 2019, section 3.1).

    The decoder is tied: it is the encoder's own table of wordpiece embeddings, given at each call, so that the
    parameter belongs to one module only. Only the rows of masked positions are ever decoded: with a vocabulary of
    21,128 the scores of all positions would be the largest tensor of the whole training step.
    """

    def __init__(self, config: BertConfig) -> None:
        """Create the head.

        config (BertConfig): The encoder's settings.
        """
        super().__init__()
        self.transform = BertPredictionHeadTransform(config)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        nn.init.normal_(self.transform.dense.weight, std=config.initializer_range)
        nn.init.zeros_(self.transform.dense.bias)

    def forward(self, hidden: torch.Tensor, embeddings: torch.Tensor) -> torch.Tensor:
        """Score the vocabulary.

        hidden (Floats[N, H]): The encoder's output at the masked positions.
        embeddings (Floats[V, H]): The encoder's wordpiece embeddings.
        RETURNS (Floats[N, V]): Scores.
        """
        return F.linear(self.transform(hidden), embeddings, self.bias)

    def loss(self, hidden: torch.Tensor, embeddings: torch.Tensor, labels: torch.Tensor) -> HeadLoss:
        """Compare with what stood there before masking.

        hidden (Floats[N, H]): The encoder's output at the masked positions.
        embeddings (Floats[V, H]): The encoder's wordpiece embeddings.
        labels (Ints[N]): The original wordpieces.
        RETURNS (HeadLoss): Mean cross-entropy and hits.
        """
        return cross_entropy(self(hidden, embeddings), labels)


def cross_entropy(scores: torch.Tensor, labels: torch.Tensor) -> HeadLoss:
    """Mean cross-entropy in float32, defined for a batch without labels too.

    scores (Floats[N, C]): One row per label.
    labels (Ints[N]): The right columns.
    RETURNS (HeadLoss): Without labels the loss is 0, and so are its gradients.
    """
    if not len(labels):
        return HeadLoss(scores.float().sum() * 0.0, torch.zeros((), dtype=torch.long, device=scores.device), 0)
    hits = (scores.detach().argmax(dim=-1) == labels).sum()
    return HeadLoss(F.cross_entropy(scores.float(), labels), hits, len(labels))
