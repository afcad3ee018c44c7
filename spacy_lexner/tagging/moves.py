"""The moves from one token to the next, as the recursions of a CRF take them.

With few tags a step is one product with the whole matrix of moves. Rules about spans that overlap may need thousands of
states, of which a token has few, and most of which one or two others can precede: inside of a span there is no choice.
So of many states only those are read that a token has, and of a state with few neighbours only these.
"""

from typing import List, Tuple

import torch
from torch import Tensor

MANY = 128  # tags, from which on it pays to look at what a token has
FEW = 4  # neighbours that are read one by one


class Moves:
    """All moves of a batch. `scores`, [n_tags, n_tags], row to column, are -inf where a move is not legal; `weights`
    are their exponentials, relative to the best. Times are those of the second of two tokens."""

    def __init__(self, scores: Tensor, weights: Tensor) -> None:
        self.scores, self.weights, self.back = scores, weights, weights.T.contiguous()

    def best(self, before: Tensor, time: int) -> Tensor:
        """From the scores of the tags of some tokens, [n, n_tags], the best with which each tag of the next ones is
        reached."""
        by_tag = before.T.contiguous()  # so that the sums of all tokens lie side by side
        return (by_tag.unsqueeze(1) + self.scores.unsqueeze(2)).amax(0).T

    def forward(self, before: Tensor, time: int) -> Tensor:
        """Sums over the tags of some tokens, [n, n_tags], for each tag of the next ones."""
        return before @ self.weights

    def backward(self, here: Tensor, time: int) -> Tensor:
        """Sums over the tags of some tokens, [n, n_tags], for each tag of the ones before."""
        return here @ self.back


class LiveMoves(Moves):
    """The moves between the tags that tokens have. What is given for others means nothing."""

    def __init__(self, scores: Tensor, weights: Tensor, live: List[Tensor]) -> None:
        """live (List[Tensor]): bool[n_tags] for each time, the tags that any token has then."""
        super().__init__(scores, weights)
        legal = scores > float("-inf")
        self._sources, self._targets = _Neighbours(legal.T), _Neighbours(legal)
        self._live = [torch.nonzero(own).squeeze(1) for own in live]

    def best(self, before: Tensor, time: int) -> Tensor:
        rows, columns = self._live[time - 1], self._live[time]
        best = torch.zeros_like(before)
        few, many = self._sources.split(columns)
        near = self._sources.table[few]
        best[:, few] = (before[:, near] + self.scores[near, few[:, None]]).amax(2)
        if len(many) and len(rows):
            best[:, many] = (before[:, rows].unsqueeze(2) + self.scores[rows[:, None], many]).amax(1)
        return best

    def forward(self, before: Tensor, time: int) -> Tensor:
        return self._sources.sums(before, self.back, self._live[time - 1], self._live[time])

    def backward(self, here: Tensor, time: int) -> Tensor:
        return self._targets.sums(here, self.weights, self._live[time], self._live[time - 1])


class _Neighbours:
    """The states next to each state, in one direction. `table`, [n_states, FEW], holds those of states that have no
    more; the first of them, or any, stands where there are fewer."""

    def __init__(self, legal: Tensor) -> None:
        counts = legal.sum(1)
        self._has_few = counts <= FEW
        self._n = counts.clamp(max=FEW)
        self.table = legal.to(torch.uint8).topk(FEW, dim=1).indices  # the legal ones come first
        present = torch.arange(FEW, device=legal.device) < self._n[:, None]
        self.table = torch.where(present, self.table, self.table[:, :1])
        self._present = present

    def split(self, states: Tensor) -> Tuple[Tensor, Tensor]:
        """Of some states those with few neighbours, and the others."""
        has_few = self._has_few[states]
        return states[has_few], states[~has_few]

    def sums(self, values: Tensor, weights: Tensor, given: Tensor, wanted: Tensor) -> Tensor:
        """For each of the states `wanted` the sum over its neighbours of their values, [n, n_states], times its row of
        weights; of states with many neighbours over those `given`."""
        sums = torch.zeros_like(values)
        few, many = self.split(wanted)
        near = self.table[few]
        own = weights[few[:, None], near] * self._present[few]
        sums[:, few] = (values[:, near] * own).sum(2)
        if len(many) and len(given):
            sums[:, many] = values[:, given] @ weights[many[:, None], given].T
        return sums


def make_moves(scores: Tensor, weights: Tensor, by_place: Tensor, sizes: List[int]) -> Moves:
    """The moves of a batch whose scores by place, [n_tokens, n_tags], are -inf for tags that a token does not have;
    `sizes` is the number of tokens at each time."""
    if scores.shape[0] < MANY:
        return Moves(scores, weights)
    return LiveMoves(scores, weights, [(own > float("-inf")).any(0) for own in by_place.split(sizes)])
