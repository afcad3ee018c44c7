"""The k best paths of a linear chain: Viterbi's recursion with each tag's k best scores (Schwartz & Chow 1990)."""

from itertools import accumulate
from typing import List, Tuple

import numpy as np
import torch
from torch import Tensor

from .crf import NEVER, Trellis, arrange, masked, split_transitions, steps

MAX_CANDIDATES = 1 << 24  # numbers that one step compares


def k_best(trellis: Trellis, k: int) -> Tuple[Tensor, Tensor]:
    """The k best (at least 1) allowed paths of each sequence, exactly, the best first: tags, [n_tokens, k], and scores,
    [n_sequences, k]; -inf, and meaningless tags, where there are fewer than k paths. An empty sequence has one path,
    with score 0. No gradient. A sequence is searched in one piece: memory grows with its length times the number of
    tags times k."""
    n_together = max(1, MAX_CANDIDATES // (trellis.emissions.shape[1] ** 2 * k))
    ends = [0, *accumulate(trellis.lengths)]
    found: List[Tuple[Tensor, Tensor]] = []
    for low in range(0, len(trellis.lengths), n_together):
        lengths = trellis.lengths[low : low + n_together]
        rows = slice(ends[low], ends[low + len(lengths)])
        emissions, allowed = trellis.emissions[rows], trellis.allowed[rows]
        found.append(_k_best(trellis._replace(emissions=emissions, allowed=allowed, lengths=lengths), k))
    if not found:
        return torch.zeros((0, k), dtype=torch.int64), trellis.emissions.new_zeros((0, k))
    tags, scores = map(torch.cat, zip(*found))
    return tags, scores


@torch.no_grad()
def _k_best(trellis: Trellis, k: int) -> Tuple[Tensor, Tensor]:
    layout = arrange(trellis)
    scores, transitions = masked(trellis, layout)
    moves, start, end = split_transitions(transitions)
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
    totals = scores.new_full((len(trellis.lengths), k), NEVER)
    totals[:, 0] = 0.0  # of empty sequences
    totals[layout.ranked] = values
    return torch.from_numpy(path // k).to(scores.device)[layout.place], totals
