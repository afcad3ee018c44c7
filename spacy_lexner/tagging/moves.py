"""The moves from one token to the next, as the recursions of a CRF take them.

With few tags a step is one product with the whole matrix of moves, or the best of the legal ones. Rules about spans
that overlap may need thousands of states, of which a token has few, and most of which one or two others can precede:
inside of a span there is no choice. So of many states only those are read that a token has, and of a state with few
neighbours only these.

A step takes few numbers, and there are many steps: NumPy calls its loops in a third of the time that torch needs.
"""

from functools import cached_property
from typing import List, Tuple

import numpy as np

MANY = 128  # tags, from which on it pays to look at what a token has
FEW = 4  # neighbours that are read one by one
LITTLE = 5000  # sums of a step, up to which the whole matrix is faster than its parts


class Moves:
    """All moves of a batch. `scores`, [n_tags, n_tags], row to column, are -inf where a move is not legal; `weights`
    are their exponentials, relative to the best. Times are those of the second of two tokens."""

    def __init__(self, scores: np.ndarray, weights: np.ndarray) -> None:
        self.scores, self.weights, self.back = scores, weights, np.ascontiguousarray(weights.T)

    def best(self, before: np.ndarray, time: int) -> np.ndarray:
        """From the scores of the tags of some tokens, [n, n_tags], the best with which each tag of the next ones is
        reached."""
        by_tag = np.ascontiguousarray(before.T)  # so that the sums of all tokens lie side by side
        if before.size * len(self.scores) <= LITTLE:
            return (by_tag[:, None] + self.scores[:, :, None]).max(0).T
        best = np.empty_like(by_tag)
        for tags, sources, scores in self._legal_parts:
            best[tags] = (by_tag[sources] + scores).max(0)
        return best.T

    @cached_property
    def _legal_parts(self) -> List[Tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Tags, the tags that can precede them, [n_sources, n_tags or 1], and the scores of these moves,
        [n_sources, n_tags, 1]. Tags with few such neighbours, like those inside of spans, have their own; the others
        share all of theirs."""
        legal = self.scores > float("-inf")
        neighbours = _Neighbours(legal.T)
        few, many = neighbours.split(np.arange(len(legal)))
        parts = ((few, neighbours.table[few].T), (many, np.flatnonzero(legal[:, many].any(1))[:, None]))
        return [(tags, rows, self.scores[rows, tags][:, :, None]) for tags, rows in parts if len(tags)]

    def forward(self, before: np.ndarray, time: int) -> np.ndarray:
        """Sums over the tags of some tokens, [n, n_tags], for each tag of the next ones."""
        return before @ self.weights

    def backward(self, here: np.ndarray, time: int) -> np.ndarray:
        """Sums over the tags of some tokens, [n, n_tags], for each tag of the ones before."""
        return here @ self.back


class LiveMoves(Moves):
    """The moves between the tags that tokens have. What is given for others means nothing."""

    def __init__(self, scores: np.ndarray, weights: np.ndarray, live: List[np.ndarray]) -> None:
        """live (List[numpy.ndarray]): bool[n_tags] for each time, the tags that any token has then."""
        super().__init__(scores, weights)
        legal = scores > float("-inf")
        self._sources, self._targets = _Neighbours(legal.T), _Neighbours(legal)
        self._live = [np.flatnonzero(own) for own in live]

    def best(self, before: np.ndarray, time: int) -> np.ndarray:
        rows, columns = self._live[time - 1], self._live[time]
        best = np.zeros_like(before)
        few, many = self._sources.split(columns)
        near = self._sources.table[few]
        best[:, few] = (before[:, near] + self.scores[near, few[:, None]]).max(2)
        if len(many) and len(rows):
            best[:, many] = (before[:, rows, None] + self.scores[rows[:, None], many]).max(1)
        return best

    def forward(self, before: np.ndarray, time: int) -> np.ndarray:
        return self._sources.sums(before, self.back, self._live[time - 1], self._live[time])

    def backward(self, here: np.ndarray, time: int) -> np.ndarray:
        return self._targets.sums(here, self.weights, self._live[time], self._live[time - 1])


class _Neighbours:
    """The states next to each state, in one direction. `table`, [n_states, FEW], holds those of states that have no
    more; the first of them, or any, stands where there are fewer."""

    def __init__(self, legal: np.ndarray) -> None:
        counts = legal.sum(1)
        self._has_few = counts <= FEW
        self.table = np.argsort(~legal, axis=1, kind="stable")[:, :FEW]  # the legal ones come first
        self._present = np.arange(FEW) < counts[:, None]
        self.table = np.where(self._present, self.table, self.table[:, :1])

    def split(self, states: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Of some states those with few neighbours, and the others."""
        has_few = self._has_few[states]
        return states[has_few], states[~has_few]

    def sums(self, values: np.ndarray, weights: np.ndarray, given: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """For each of the states `wanted` the sum over its neighbours of their values, [n, n_states], times its row of
        weights; of states with many neighbours over those `given`."""
        sums = np.zeros_like(values)
        few, many = self.split(wanted)
        near = self.table[few]
        own = weights[few[:, None], near] * self._present[few]
        sums[:, few] = (values[:, near] * own).sum(2)
        if len(many) and len(given):
            sums[:, many] = values[:, given] @ weights[many[:, None], given].T
        return sums


def make_moves(scores: np.ndarray, weights: np.ndarray, by_place: np.ndarray, sizes: List[int]) -> Moves:
    """The moves of a batch whose scores by place, [n_tokens, n_tags], are -inf for tags that a token does not have;
    `sizes` is the number of tokens at each time."""
    if scores.shape[0] < MANY:
        return Moves(scores, weights)
    by_time = np.split(by_place > float("-inf"), np.cumsum(sizes)[:-1])
    return LiveMoves(scores, weights, [np.any(own, axis=0) for own in by_time])
