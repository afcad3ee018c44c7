"""The heads of taggers: the loss of a conditional random field, and that of a softmax over single tokens; for both, the
divergence from the probabilities of another model."""

from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence, Tuple, cast

import numpy as np
import torch
from thinc.types import Floats2d
from thinc.util import get_torch_default_device, to_numpy
from torch import Tensor

from ..encoders.shared import forks  # noqa: F401 (for its effect)
from ..tensors.convert import array_of, tensor_of
from . import crf
from .crf import NEVER, Trellis
from .guards import Guard
from .posterior import forward_backward
from .spans.head import TaggerOutput
from .spans.span_rules import SpanRules
from .spans.states import States, tag_states
from .spans.tag_scheme import Bools2d, TagSpan, span_tags
from .tag_search import TagSearch, make_trellis

NORMALIZATIONS = ("mean", "sum", "token")


@dataclass(frozen=True)
class Head:
    """The base of all heads; `spans.head.TaggerHead` describes the methods."""

    normalization: str = "mean"  # divide a batch's loss by its sentences ("mean"), tokens ("token") or nothing ("sum")

    def __post_init__(self) -> None:
        if self.normalization not in NORMALIZATIONS:
            raise ValueError(f"normalization is {self.normalization!r}; expected one of {', '.join(NORMALIZATIONS)}.")

    def to_states(self, states: States) -> States:
        """The states to search in, given those that rules need."""
        return states

    def search(
        self, outputs: TaggerOutput, allowed: Sequence[Bools2d], rules: Optional[Sequence[SpanRules]] = None
    ) -> TagSearch:
        return TagSearch(outputs, allowed, rules, self.to_states)

    def loss(
        self,
        outputs: TaggerOutput,
        allowed: Sequence[Bools2d],
        gold: Sequence[Bools2d],
        incorrect: Sequence[Sequence[TagSpan]],
    ) -> Tuple[float, TaggerOutput]:
        def total(trellis: Trellis, states: States) -> Tensor:
            right = tensor_of(self.gold_states(gold, states), trellis.emissions.device) & trellis.allowed
            losses = self.losses(trellis, right).sum() + self.guard_loss(trellis, right)
            return losses + _incorrect_loss(trellis, states, incorrect)

        return self._differentiate(outputs, allowed, total)

    def distil_loss(
        self, outputs: TaggerOutput, allowed: Sequence[Bools2d], target: Sequence[Floats2d]
    ) -> Tuple[float, TaggerOutput]:
        def total(trellis: Trellis, states: States) -> Tensor:
            if states.refines is not None:
                raise ValueError("The tags of a published model cannot be compared with those of another one.")
            rows = np.concatenate([to_numpy(own) for own in target])
            return marginal_loss(trellis, tensor_of(rows).to(trellis.emissions))

        return self._differentiate(outputs, allowed, total)

    def _differentiate(
        self, outputs: TaggerOutput, allowed: Sequence[Bools2d], total: Callable[[Trellis, States], Tensor]
    ) -> Tuple[float, TaggerOutput]:
        """The value of a loss, which `total` sums over the batch, and its gradient, both normalized."""
        device = get_torch_default_device()
        emissions = torch.cat([tensor_of(rows, device) for rows in outputs[0]]).double().requires_grad_()
        transitions = tensor_of(outputs[1], device).double().requires_grad_()
        states = self.to_states(tag_states(allowed[0].shape[1]))
        loss = total(make_trellis(emissions, transitions, states, allowed), states)
        if self.normalization != "sum":
            lengths = [len(mask) for mask in allowed]
            loss = loss / max(1, sum(lengths) if self.normalization == "token" else sum(map(bool, lengths)))
        d_emissions, d_transitions = torch.autograd.grad(
            loss, (emissions, transitions), allow_unused=True, materialize_grads=True
        )
        d_docs: List[Any] = [array_of(rows) for rows in d_emissions.float().split([len(rows) for rows in outputs[0]])]
        return loss.item(), TaggerOutput(d_docs, cast(Floats2d, array_of(d_transitions.float())))

    def gold_states(self, gold: Sequence[Bools2d], states: States) -> Bools2d:
        """The states that agree with the annotation of a batch, [n_rows, n_states]."""
        return np.concatenate([states.rows(mask) for mask in gold])

    def losses(self, trellis: Trellis, gold: Tensor) -> Tensor:
        """The loss of each sentence, or of any other parts with the same sum."""
        raise NotImplementedError

    def guard_loss(self, trellis: Trellis, gold: Tensor) -> Tensor:
        """What is added for tokens without annotation."""
        return trellis.emissions.new_zeros(())


@dataclass(frozen=True)
class CRFHead(Head):
    """Negative log-likelihood of what is annotated, summed over what is not (Tsuboi et al. 2008): a sentence without
    any annotation has loss 0. Without `constrained_training` it is relative to all paths, not only the legal ones: the
    scores themselves learn which moves are illegal, as in the original FLAT; decoding still keeps to legal paths, and
    so do span scores."""

    constrained_training: bool = True
    guard: Optional[Guard] = None  # what keeps it from calling everything an entity where annotation is missing

    def losses(self, trellis: Trellis, gold: Tensor) -> Tensor:
        if not self.constrained_training:
            trellis = trellis._replace(legal=torch.ones_like(trellis.legal))
        return -log_share(trellis, gold)

    def guard_loss(self, trellis: Trellis, gold: Tensor) -> Tensor:
        return super().guard_loss(trellis, gold) if self.guard is None else self.guard.loss(trellis, gold)


@dataclass(frozen=True)
class SoftmaxHead(Head):
    """A softmax over the tags of each token. Decoding and span scores keep to the legal paths: a path's probability is
    the product of its tags' probabilities, relative to that of all legal paths."""

    focal_gamma: float = 0.0  # weigh tokens by (1 - p) ** gamma, p of the right tag (Lin et al. 2017); 0: cross-entropy
    label_smoothing: float = 0.0  # share of the target spread evenly over all allowed tags (Szegedy et al. 2016)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.focal_gamma < 0:
            raise ValueError(f"focal_gamma is {self.focal_gamma}; expected 0 (cross-entropy) or more.")
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(f"label_smoothing is {self.label_smoothing}; expected at least 0 and less than 1.")

    def losses(self, trellis: Trellis, gold: Tensor) -> Tensor:
        """The loss of each token. Several right tags count together; where all allowed tags are right, because
        annotation is missing, the loss is 0."""
        log_p = trellis.emissions.masked_fill(~trellis.allowed, NEVER).log_softmax(1)
        right = torch.logsumexp(log_p.masked_fill(~gold, NEVER), 1)
        losses = -right
        if self.focal_gamma:
            losses = losses * (-torch.expm1(right)).clamp(min=0) ** self.focal_gamma
        if self.label_smoothing:
            spread = -log_p.masked_fill(~trellis.allowed, 0.0).sum(1) / trellis.allowed.sum(1)
            losses = (1 - self.label_smoothing) * losses + self.label_smoothing * spread
        missing = (gold == trellis.allowed).all(1)
        return losses.masked_fill(missing, 0.0)


def marginal_loss(trellis: Trellis, target: Tensor) -> Tensor:
    """The Kullback-Leibler divergence from the probabilities of each token's tags to given ones, summed over tokens
    (posterior distillation, Wang et al. 2020): 0 where both agree.

    trellis (Trellis): The batch.
    target (Tensor): [n_tokens, n_target_tags], probabilities, possibly of a model with fewer labels: its tags are the
        first ones of the trellis, and what it thinks to be outside may be anything with another label.
    """
    log_p, n_target = forward_backward(trellis).log_p, target.shape[1]
    outside = torch.cat([log_p[:, :1], log_p[:, n_target:]], 1).logsumexp(1, keepdim=True)
    log_p = torch.cat([outside, log_p[:, 1:n_target]], 1)
    return torch.special.xlogy(target, target).sum() - (target * log_p).sum()


def log_share(trellis: Trellis, subset: Tensor) -> Tensor:
    """Log of the probability, [n_sequences], that the path stays within `subset`, bool[n_tokens, n_tags], of what is
    allowed; exactly 0 if that is all."""
    emissions, allowed = torch.cat([trellis.emissions] * 2), torch.cat([subset, trellis.allowed])
    twice = trellis._replace(emissions=emissions, allowed=allowed, lengths=trellis.lengths * 2)
    part, whole = crf.log_partition(twice).chunk(2)
    return part - whole


def _incorrect_loss(trellis: Trellis, states: States, incorrect: Sequence[Sequence[TagSpan]]) -> Tensor:
    """Sum of -log(1 - p) over spans known to be wrong; p is the share of the paths that spell the span."""
    spans = [span for own in incorrect for span in own]
    if not spans:
        return trellis.emissions.new_zeros(())
    trellis = trellis.take([i for i, own in enumerate(incorrect) for _ in own])
    spelled, first = trellis.allowed.clone(), states.margin
    for span, length in zip(spans, trellis.lengths):
        means = tensor_of(states.tags == span_tags(span)[:, None], spelled.device)
        spelled[first + span.start : first + span.end] &= means
        first += length
    log_p = log_share(trellis, spelled)
    # The loss of a span that is certain is not finite: the value stops at 1 - p = 1e-12, the gradient goes on.
    log_p = log_p - (log_p + 1e-12).clamp(min=0).detach()
    return -torch.log(-torch.expm1(log_p)).sum()
