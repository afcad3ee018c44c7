"""The k best paths of a linear chain: Viterbi's recursion with the k best scores of each tag in place of the best one
(Schwartz & Chow 1990)."""

from itertools import accumulate
from typing import List, NamedTuple, Sequence

import numpy as np
import torch
from torch import Tensor

from .crf import NEVER, Problem, masked, parts
from .crf_layout import arrange, steps

MAX_CANDIDATES = 1 << 24  # numbers that one step compares


class Readings(NamedTuple):
    """The best paths of a batch of sequences, the best first.

    tags (Tensor): The tags of each token, [n_tokens, k].
    scores (Tensor): The scores, [n_sequences, k]; -inf, and tags without meaning, where there are not so many paths.
    """

    tags: Tensor
    scores: Tensor


def k_best(
    emissions: Tensor, transitions: Tensor, allowed: Tensor, legal: Tensor, lengths: Sequence[int], k: int
) -> Readings:
    """Find the k best allowed paths of each sequence, exactly. An empty sequence has one path, with score 0. A sequence
    is searched in one piece: memory grows with its length times the number of tags times k. No gradient.

    emissions, transitions, allowed, legal, lengths: See `modules.crf`.
    k (int): How many, at least 1.
    RETURNS (Readings): The paths.
    """
    n_tags = emissions.shape[1]
    n_together = max(1, MAX_CANDIDATES // (n_tags * n_tags * k))
    ends = list(accumulate(lengths))
    found: List[Readings] = []
    for low in range(0, len(lengths), n_together):
        part = list(lengths[low : low + n_together])
        stop = ends[low + len(part) - 1]
        rows = slice(stop - sum(part), stop)
        found.append(_k_best(Problem(emissions[rows], transitions, allowed[rows], legal, part), k))
    if not found:
        return Readings(torch.zeros((0, k), dtype=torch.int64), emissions.new_zeros((0, k)))
    return Readings(*map(torch.cat, zip(*found)))


@torch.no_grad()
def _k_best(problem: Problem, k: int) -> Readings:
    layout = arrange(problem.lengths, problem.emissions.device)
    moves, start, end = parts(masked(problem.transitions, problem.legal))
    scores = masked(problem.emissions, problem.allowed)[layout.order]
    n_running, n_tags = len(layout.ranked), scores.shape[1]
    best = scores.new_full((n_running, n_tags, k), NEVER)
    best[:, :, 0] = scores[:n_running] + start
    origin = torch.zeros((len(scores), n_tags * k), dtype=torch.int32)
    into = moves.T.contiguous().unsqueeze(2)
    for here, _ in steps(layout.sizes):
        n = here.stop - here.start
        values, places = (best[:n].unsqueeze(1) + into).flatten(2).topk(k, dim=2)
        best[:n] = values + scores[here].unsqueeze(2)
        origin[here] = places.flatten(1).to("cpu", torch.int32)
    values, places = (best + end.unsqueeze(1)).flatten(1).topk(k, dim=1)
    path = np.zeros((len(scores), k), dtype=np.int64)
    path[layout.last.cpu().numpy()] = places.cpu().numpy()
    pointers = origin.numpy()
    for here, before in steps(layout.sizes, backwards=True):
        path[before] = np.take_along_axis(pointers[here], path[here], 1)
    totals = scores.new_full((len(problem.lengths), k), NEVER)
    totals[:, 0] = 0.0  # of empty sequences
    totals[layout.ranked] = values
    return Readings(torch.from_numpy(path // k).to(scores.device)[layout.place], totals)
