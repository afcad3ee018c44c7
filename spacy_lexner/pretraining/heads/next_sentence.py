"""BERT's next sentence prediction head."""

import torch
from torch import nn
from transformers import BertConfig
from transformers.models.bert.modeling_bert import BertOnlyNSPHead, BertPooler

from .masked_lm import HeadLoss, cross_entropy

IS_NEXT, IS_RANDOM = 0, 1


class NextSentenceHead(nn.Module):
    """Tells from the first position whether the second segment follows the first or is random (Devlin et al. 2019,
    section 3.1).

    Holds the pooler as well, which BERT counts as part of its encoder: token vectors need none, so the encoders here
    have none.
    """

    def __init__(self, config: BertConfig) -> None:
        """Create the head.

        config (BertConfig): The encoder's settings.
        """
        super().__init__()
        self.pooler = BertPooler(config)
        self.classifier = BertOnlyNSPHead(config)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=config.initializer_range)
                nn.init.zeros_(module.bias)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Score the two answers.

        hidden (Floats[B, L, H]): The encoder's output; only the first position is read.
        RETURNS (Floats[B, 2]): Scores of IS_NEXT and IS_RANDOM.
        """
        return self.classifier(self.pooler(hidden))

    def loss(self, hidden: torch.Tensor, labels: torch.Tensor) -> HeadLoss:
        """Compare with how the pairs were built.

        hidden (Floats[B, L, H]): The encoder's output.
        labels (Ints[B]): IS_NEXT or IS_RANDOM.
        RETURNS (HeadLoss): Mean cross-entropy and hits.
        """
        return cross_entropy(self(hidden), labels)
