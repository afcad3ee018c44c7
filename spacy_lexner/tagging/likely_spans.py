"""All spans that are probable enough, whether the best path has them or not.

The probability of a span is a product along its tokens, from the last one backwards: that the last tag ends it, times
that its predecessor goes with it, and so on. So it only falls while the span is followed back, and a search that stops
below a bound finds exactly the spans above it. There are few: at any token the probabilities of the spans over it sum
to 1 at most. Where tags are refined to states, all states that mean the same tag are followed together.
"""

from typing import List, NamedTuple

import numpy as np

from .crf_windows import Conditionals
from .spans.tag_scheme import BEGIN, END, INSIDE, SINGLE, Ints1d, TagSpan


class LikelySpan(NamedTuple):
    """A span, and its probability."""

    span: TagSpan
    probability: float


class _Followed(NamedTuple):
    """Spans that are followed back: token, end (exclusive) and label of each, and the probabilities of its states."""

    token: np.ndarray
    end: np.ndarray
    label: np.ndarray
    states: np.ndarray

    def take(self, which: np.ndarray) -> "_Followed":
        return _Followed(*(array[which] for array in self))


def find_likely_spans(given: Conditionals, tags: Ints1d, bound: float) -> List[LikelySpan]:
    """Find the spans with at least some probability.

    given (Conditionals): The probabilities of states and of their predecessors.
    tags (Ints1d): The tag that each state means, [n_states], in the order of TagScheme; -1 for none.
    bound (float): The probability, above 0.
    RETURNS (List[LikelySpan]): The spans, in rows of the batch, ordered. None reaches from one text into the next.
    """
    n_labels = max(0, (int(tags.max()) + 3) // 4)
    # What states mean the tags of a kind: one row for each label.
    begin, inside, end, single = (
        np.stack([tags == 1 + 4 * label + kind for label in range(n_labels)]) if n_labels else np.zeros((0, len(tags)))
        for kind in (BEGIN, INSIDE, END, SINGLE)
    )
    found: List[LikelySpan] = []
    rows, labels = np.nonzero(given.unary @ single.T.astype(float) >= bound)
    whole = np.einsum("ns,ns->n", given.unary[rows], single[labels].astype(float))
    found += _spans(rows, rows + 1, labels, whole)
    rows, labels = np.nonzero(given.unary @ end.T.astype(float) >= bound)
    followed = _Followed(rows, rows + 1, labels, given.unary[rows] * end[labels])
    while len(followed.token):
        followed = followed.take(followed.token > 0)
        before = followed.token - 1
        states = ((followed.states * given.per_mass[before]) @ given.weights.T) * given.odds[before]
        opened = (states * begin[followed.label]).sum(1)
        done = opened >= bound
        found += _spans(before[done], followed.end[done], followed.label[done], opened[done])
        states *= inside[followed.label]
        followed = _Followed(before, followed.end, followed.label, states).take(states.sum(1) >= bound)
    return sorted(found)


def _spans(start: np.ndarray, end: np.ndarray, label: np.ndarray, probability: np.ndarray) -> List[LikelySpan]:
    rows = zip(start.tolist(), end.tolist(), label.tolist(), probability.tolist())
    return [LikelySpan(TagSpan(*span), min(p, 1.0)) for *span, p in rows]
