"""Guards that keep a tagger trained on partial annotation from calling everything an entity.

Where only entities are annotated, and nothing is known to be outside, the most probable model marks all. A guard adds
a loss that looks at what is not annotated; it is registered, and named by `guard` of `spacy-lexner.CRFTagger.v1`.
"""

from typing import Optional

import numpy as np
import torch
from torch import Tensor

from ..tensors.convert import numpy_of, tensor_of
from .crf import Trellis
from .posterior import forward_backward, span_log_p
from .spans.tag_scheme import OUTSIDE

ALMOST_ONE = 1e-12


class Guard:
    """A plain class, since the config system would turn a dataclass into a dict."""

    def loss(self, trellis: Trellis, right: Tensor) -> Tensor:
        """The loss of a batch, summed over its tokens.

        trellis (Trellis): The batch, in BIOES tags.
        right (Tensor): bool[n_tokens, n_tags], the allowed tags that agree with the annotation: where it is missing,
            all.
        """
        raise NotImplementedError


class EntityRatio(Guard):
    """The expected entity ratio loss (Effland and Collins 2021, eq. 5): the share of tokens that are expected to be in
    entities must be near to a given one."""

    def __init__(self, ratio: float, margin: float, weight: float) -> None:
        self.ratio, self.margin, self.weight = ratio, margin, weight

    def loss(self, trellis: Trellis, right: Tensor) -> Tensor:
        if not len(right):
            return trellis.emissions.sum()
        share = 1 - forward_backward(trellis).log_p[:, OUTSIDE].exp().mean()
        return self.weight * len(right) * ((share - self.ratio).abs() - self.margin).clamp(min=0)


class NegativeSampling(Guard):
    """Spans without annotation, drawn at random, count as no entities (Li, Liu and Shi 2021): few of them are any. The
    loss of a span is -log(1 - p), p the exact probability that it is an entity."""

    def __init__(self, share: float, max_length: int, weight: float) -> None:
        self.share, self.max_length, self.weight = share, max_length, weight

    def loss(self, trellis: Trellis, right: Tensor) -> Tensor:
        starts, ends = self.draw(numpy_of((right == trellis.allowed).all(1)), np.array(trellis.lengths))
        if not len(starts):
            return trellis.emissions.new_zeros(())
        places = (tensor_of(part, right.device) for part in (starts, ends))
        log_p = span_log_p(forward_backward(trellis), *places)
        log_p = log_p - (log_p + ALMOST_ONE).clamp(min=0).detach()  # the value stays finite, the gradient goes on
        return self.weight * -torch.log(-torch.expm1(log_p)).sum()

    def draw(self, missing: np.ndarray, lengths: np.ndarray) -> "tuple[np.ndarray, np.ndarray]":
        """Draw spans, evenly among all of at most `max_length` tokens that are not annotated: for each sequence `share`
        times its number of tokens, rounded up. Returns starts and ends (exclusive) in the batch."""
        firsts = lengths.cumsum() - lengths
        n_drawn = np.ceil(self.share * lengths).astype("i8")
        sequence = np.repeat(np.arange(len(lengths)), n_drawn)
        starts = firsts[sequence] + (np.random.random(len(sequence)) * lengths[sequence]).astype("i8")
        ends = starts + np.random.randint(1, self.max_length + 1, len(sequence))
        annotated = np.append(0, np.cumsum(~missing))
        inside = ends <= (firsts + lengths)[sequence]
        inside[inside] = annotated[ends[inside]] == annotated[starts[inside]]
        return starts[inside], ends[inside]


def create_entity_ratio(ratio: float = 0.15, margin: float = 0.05, weight: float = 10.0) -> Guard:
    """Expect a share of the tokens to be in entities (Effland and Collins 2021), with the paper's settings.

    ratio (float): The share, from 0 to 1.
    margin (float): How far from it the expected share of a batch may be without a loss.
    weight (float): Weight of the loss, which is relative to the number of tokens.
    RETURNS (Guard): The guard.
    """
    if not (0 < ratio < 1 and 0 <= margin < 1 and weight >= 0):
        raise ValueError(
            f"ratio = {ratio}, margin = {margin}, weight = {weight}: expected a ratio above 0 and below "
            "1, a margin of 0 or more and below 1, and a weight of 0 or more."
        )
    return EntityRatio(ratio, margin, weight)


def create_negative_sampling(share: float = 0.35, max_length: int = 10, weight: float = 1.0) -> Guard:
    """Take spans that are not annotated, drawn at random in every step, for no entities (Li et al. 2021).

    share (float): How many are drawn, relative to the number of tokens of a text.
    max_length (int): Their greatest length, in tokens.
    weight (float): Weight of their loss.
    RETURNS (Guard): The guard.
    """
    if not (0 < share < float("inf") and max_length >= 1 and weight >= 0):
        raise ValueError(
            f"share = {share}, max_length = {max_length}, weight = {weight}: expected a share above 0, a length of at "
            "least 1, and a weight of 0 or more."
        )
    return NegativeSampling(share, max_length, weight)


def check_guard(guard: Optional[Guard]) -> None:
    """Raise ValueError for anything but a guard or None."""
    if guard is not None and not isinstance(guard, Guard):
        raise ValueError(
            f'guard is {guard!r:.80}; expected null, or a block with @misc = "spacy-lexner.EntityRatio.v1" or '
            '"spacy-lexner.NegativeSampling.v1".'
        )
