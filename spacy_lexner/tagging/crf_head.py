"""Head of a conditional random field: the loss is the negative log-likelihood of the annotation."""

from dataclasses import dataclass

import torch
from torch import Tensor

from .crf import Problem
from .tagger_head import TaggerHead, log_share


@dataclass(frozen=True)
class CRFHead(TaggerHead):
    """Negative log-likelihood of what is annotated, summed over what is not (Tsuboi et al. 2008): a sentence without
    any annotation has loss 0.

    normalization (str): See TaggerHead.
    constrained_training (bool): Whether the likelihood is relative to the legal paths, or to all: then the scores
        themselves learn which moves are illegal, as in the original FLAT. Decoding and probabilities of spans keep to
        legal paths in any case.
    """

    constrained_training: bool = True

    def sentence_losses(self, batch: Problem, gold: Tensor) -> Tensor:
        if not self.constrained_training:
            batch = batch._replace(legal=torch.ones_like(batch.legal))
        return -log_share(batch, gold)
