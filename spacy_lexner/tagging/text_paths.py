"""Texts within a Doc are tagged as if each were a Doc of its own: emissions are changed so that paths part there."""

from typing import Any, Sequence

import numpy as np

from .spans.head import TaggerOutput
from .spans.tag_scheme import BEGIN, END, INSIDE, OUTSIDE

UNLIKELY = -1e4  # an emission that only a rule or a kept entity outweighs


def part_separated(outputs: TaggerOutput, separators: Sequence[np.ndarray]) -> None:
    """Change emissions so that what stands between separators is a path of its own. The separators (tokens, int64[n]
    for each Doc) are outside, and instead of the moves to and from them count the end of one path and the start of the
    next."""
    transitions: Any = outputs.transitions
    starts, ends = transitions[-1, :-1], transitions[:-1, -1]
    for emissions, places in zip(outputs.emissions, separators):
        if not len(places):  # most Docs
            continue
        rows: Any = emissions
        before, after = np.setdiff1d(places - 1, [*places, -1]), np.setdiff1d(places + 1, [*places, len(rows)])
        rows[before] += ends - transitions[:-1, OUTSIDE]
        rows[after] += starts - transitions[OUTSIDE, :-1]
        rows[places] = UNLIKELY
        rows[places, OUTSIDE] = 0.0
        rows[np.intersect1d(places, places + 1), OUTSIDE] -= transitions[OUTSIDE, OUTSIDE]
        rows[places[places == 0], OUTSIDE] -= starts[OUTSIDE]
        rows[places[places == len(rows) - 1], OUTSIDE] -= ends[OUTSIDE]


def part_texts(outputs: TaggerOutput, text_ends: Sequence[np.ndarray]) -> None:
    """Change emissions so that no span crosses the ends of texts (their last tokens, int64[n] for each Doc), and that
    the end of one path and the start of the other count instead of the move between them: exactly where one of the two
    tags is the most probable one, otherwise as far as moves are sums of a term of each."""
    transitions: Any = outputs.transitions
    starts, ends = transitions[-1, :-1], transitions[:-1, -1]
    kinds = (np.arange(len(starts)) - 1) % 4
    kinds[OUTSIDE] = -1
    goes_on, has_begun = (np.flatnonzero(np.isin(kinds, pair)) for pair in ([BEGIN, INSIDE], [INSIDE, END]))
    for emissions, last in zip(outputs.emissions, text_ends):
        if not len(last):
            continue
        rows: Any = emissions
        first = last + 1
        rows[last[:, None], goes_on] = UNLIKELY
        rows[first[:, None], has_begun] = UNLIKELY
        left, right = rows[last].argmax(axis=1), rows[first].argmax(axis=1)
        rows[last] += ends - transitions[:-1, right].T + transitions[left, right][:, None]
        rows[first] += starts - transitions[left, :-1]
