"""Head that classifies each token for itself: cross-entropy, focal loss, label smoothing."""

from dataclasses import dataclass

import torch
from torch import Tensor

from .crf import Problem
from .tagger_head import TaggerHead


@dataclass(frozen=True)
class SoftmaxHead(TaggerHead):
    """A softmax over the tags of each token. Decoding and span scores keep to the legal paths: a path's probability is
    the product of its tags' probabilities, relative to that of all legal paths.

    normalization (str): See TaggerHead.
    focal_gamma (float): Weight a token by (1 - p) ** gamma, p the probability of its right tag (Lin et al. 2017); 0 is
        plain cross-entropy.
    label_smoothing (float): Share of the target that is spread evenly over all allowed tags (Szegedy et al. 2016).
    """

    focal_gamma: float = 0.0
    label_smoothing: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.focal_gamma < 0:
            raise ValueError(f"focal_gamma is {self.focal_gamma}; expected 0 (cross-entropy) or more.")
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(f"label_smoothing is {self.label_smoothing}; expected at least 0 and less than 1.")

    def sentence_losses(self, batch: Problem, gold: Tensor) -> Tensor:
        """RETURNS (Tensor): The loss of each token. Where several tags are right, they count together; where all that
        are allowed are right, because annotation is missing, the loss is 0."""
        log_p = batch.emissions.masked_fill(~batch.allowed, float("-inf")).log_softmax(1)
        right = torch.logsumexp(log_p.masked_fill(~gold, float("-inf")), 1)
        losses = -right
        if self.focal_gamma:
            losses = losses * (-torch.expm1(right)).clamp(min=0) ** self.focal_gamma
        if self.label_smoothing:
            spread = -log_p.masked_fill(~batch.allowed, 0.0).sum(1) / batch.allowed.sum(1)
            losses = (1 - self.label_smoothing) * losses + self.label_smoothing * spread
        missing = (gold == batch.allowed).all(1)
        return losses.masked_fill(missing, 0.0)
