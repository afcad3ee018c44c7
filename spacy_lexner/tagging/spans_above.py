"""All spans above a probability, whether the best path has them or not.

The probability of a span is a product along its tokens, from the last one backwards: that the last tag ends it, times
that its predecessor goes with it, and so on. So it only falls while the span is followed back, and a search that stops
below a threshold finds exactly the spans above it. They are few: at any token the probabilities of the spans over it
sum to at most 1. Where tags are refined to states, all states of the same tag are followed together.
"""

from typing import List, NamedTuple

import torch
from torch import Tensor

from .crf import Marginals
from .spans.head import ScoredSpan
from .spans.tag_scheme import BEGIN, END, INSIDE, SINGLE, Ints1d, TagSpan


class _Open(NamedTuple):
    """Spans that are followed back: their current token, end and label, and the probabilities of their states."""

    token: Tensor
    end: Tensor
    label: Tensor
    states: Tensor

    def take(self, which: Tensor) -> "_Open":
        return _Open(*(tensor[which] for tensor in self))


def find_spans_above(marginals: Marginals, tags: Ints1d, threshold: float) -> List[ScoredSpan]:
    """Find the spans with at least the probability `threshold` (above 0), in rows of the batch, ordered; none reaches
    from one text into the next. `tags`, [n_states], is the tag of each state in the order of TagScheme; -1 for none."""
    unary, odds, weights, per_mass = marginals
    first_tags = 1 + 4 * torch.arange(max(0, (int(tags.max()) + 3) // 4))
    # The states that stand for tags of a kind, [n_labels, n_states].
    begin, inside, end, single = (
        (torch.from_numpy(tags) == first_tags[:, None] + kind).to(unary.dtype) for kind in (BEGIN, INSIDE, END, SINGLE)
    )
    rows, labels = torch.nonzero(unary @ single.T >= threshold, as_tuple=True)
    found = _spans(rows, rows + 1, labels, (unary[rows] * single[labels]).sum(1))
    rows, labels = torch.nonzero(unary @ end.T >= threshold, as_tuple=True)
    spans = _Open(rows, rows + 1, labels, unary[rows] * end[labels])
    while len(spans.token):
        spans = spans.take(spans.token > 0)
        before = spans.token - 1
        states = ((spans.states * per_mass[before]) @ weights.T) * odds[before]
        begun = (states * begin[spans.label]).sum(1)
        done = begun >= threshold
        found += _spans(before[done], spans.end[done], spans.label[done], begun[done])
        states = states * inside[spans.label]
        spans = _Open(before, spans.end, spans.label, states).take(states.sum(1) >= threshold)
    return sorted(found)


def _spans(start: Tensor, end: Tensor, label: Tensor, probability: Tensor) -> List[ScoredSpan]:
    rows = zip(start.tolist(), end.tolist(), label.tolist(), probability.tolist())
    return [ScoredSpan(TagSpan(*span), min(p, 1.0)) for *span, p in rows]
