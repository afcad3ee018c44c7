"""Head of a conditional random field: the loss is the negative log-likelihood of the annotation."""

from dataclasses import dataclass

from torch import Tensor

from ..modules.crf import Problem
from .tagger_head import TaggerHead, log_share


@dataclass(frozen=True)
class CRFHead(TaggerHead):
    """Negative log-likelihood of what is annotated, summed over what is not (Tsuboi et al. 2008): a sentence without
    any annotation has loss 0. Illegal moves are excluded in training as in decoding.

    normalization (str): See TaggerHead.
    """

    def sentence_losses(self, batch: Problem, gold: Tensor) -> Tensor:
        return -log_share(batch, gold)
