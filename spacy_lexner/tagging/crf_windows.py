"""Paths and probabilities of sequences of any length, in bounded memory and without a Python step per token.

A long sequence is read in overlapping windows, many at a time; each decides the tokens of its middle part. A Markov
chain forgets: after some tokens, nothing depends on how a window began. This is checked, not assumed: where one
window's part ends and the next one's begins, both must have found the same scores up to that token (so the later one
goes on as if it had read everything before) and the same result from there backwards (so the earlier one ends as if it
had read everything after). A sequence that fails the check is searched again in one piece.

Scores may have any floating-point type; everything is computed in float64.
"""

from typing import Callable, Iterable, Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np
import torch
from torch import Tensor

from ..candidates.batch_words import expand_ranges
from ..tensors.convert import tensor_of
from . import crf
from .crf import Marginals, Trellis

WINDOW, MARGIN = 2048, 256
BATCH_TOKENS = 1 << 16
TOLERANCE = 1e-7


class Window(NamedTuple):
    """A part of a sequence; all but `sequence` are tokens of the batch, ends exclusive."""

    sequence: int
    start: int  # what is read
    end: int
    own_start: int  # what is decided
    own_end: int

    @property
    def size(self) -> int:
        return self.end - self.start


def cut(lengths: Sequence[int], window: int = WINDOW, margin: int = MARGIN) -> Iterator[Window]:
    """Cut sequences of more than two windows into windows of at most `window` tokens. Where a window's edge is not that
    of the sequence, it reads `margin` tokens there that it does not decide. Every sequence has at least one window, in
    order; together they decide each token once."""
    offset = 0
    for i, length in enumerate(lengths):
        part = window - 2 * margin if length > 2 * window else max(length, 1)
        for own in range(0, max(length, 1), part):
            own_end = min(own + part, length)
            start, end = max(own - margin, 0), min(own_end + margin, length)
            yield Window(i, offset + start, offset + end, offset + own, offset + own_end)
        offset += length


def viterbi(trellis: Trellis, *, window: int = WINDOW, margin: int = MARGIN) -> Tuple[Tensor, List[bool]]:
    """The tags of the best paths, [n_tokens], and whether each sequence has a path of finite score; if not, its tags
    are meaningless."""
    path = torch.zeros(len(trellis.emissions), dtype=torch.int64, device=trellis.emissions.device)

    def solve(part: Trellis, decided: slice, rows: Tensor) -> Tuple[Tensor, List[Tensor]]:
        best = crf.viterbi(part)
        path[decided] = best.tags[rows]
        return best.scores, [best.upto, best.tags[:, None].double()]

    return path, _solve(trellis, solve, window, margin)


def marginals(trellis: Trellis, *, window: int = WINDOW, margin: int = MARGIN) -> Marginals:
    """Probabilities of tags and of pairs of tags, in float64, on the CPU."""
    n_tokens, n_tags = trellis.emissions.shape
    found = Marginals(
        *(torch.zeros((n, n_tags), dtype=torch.float64) for n in (n_tokens, n_tokens, n_tags, n_tokens)),
    )

    def solve(part: Trellis, decided: slice, rows: Tensor) -> Tuple[Tensor, List[Tensor]]:
        log_z, alpha, (unary, odds, weights, per_mass) = crf.posterior(part)
        found.weights.copy_(weights)
        for target, source in ((found.unary, unary), (found.odds, odds), (found.per_mass, per_mass)):
            target[decided] = source[rows].cpu()
        return log_z, [alpha, unary]

    _solve(trellis, solve, window, margin)
    return found


def run_log_probs(found: Marginals, tokens: Tensor, tags: Tensor, sizes: Sequence[int]) -> Tensor:
    """Log of the probability, [n_runs], that the path has exactly the given tags on runs of consecutive tokens. As a
    product from the end of the run: P(y_1 ... y_n) = P(y_n) P(y_n-1 | y_n) ... P(y_1 | y_2). `tokens` and `tags`, [m],
    hold the runs one after the other; `sizes` are their lengths, at least 1."""
    counts, following = torch.tensor(sizes), tags.roll(-1)
    factors = found.odds[tokens, tags] * found.weights[tags, following] * found.per_mass[tokens, following]
    last = counts.cumsum(0) - 1
    factors[last] = found.unary[tokens[last], tags[last]]
    run = torch.repeat_interleave(torch.arange(len(sizes)), counts)
    return factors.new_zeros(len(sizes)).index_add(0, run, factors.log())


# Takes a part of the batch, the tokens to decide and their rows in the part. Gives the score of each sequence of the
# part, and for each row what depends on the tokens before it (as scores, of which only differences matter) and after.
Solver = Callable[[Trellis, slice, Tensor], Tuple[Tensor, List[Tensor]]]


def _solve(trellis: Trellis, solver: Solver, window: int, margin: int) -> List[bool]:
    """Solve a problem by windows. Returns whether each sequence has a finite score."""
    good = _solve_windows(trellis, solver, cut(trellis.lengths, window, margin))
    for whole in cut(trellis.lengths, window=sum(trellis.lengths)):
        if not good[whole.sequence] and whole.size > 2 * window:
            good[whole.sequence] = _solve_windows(trellis, solver, [whole])[whole.sequence]
    return good


def _solve_windows(trellis: Trellis, solver: Solver, windows: Iterable[Window]) -> List[bool]:
    """RETURNS (List[bool]): For each sequence, whether its scores are finite and neighbouring windows agree."""
    good = [True] * len(trellis.lengths)
    expected: List[Tensor] = []
    for group in _groups(windows):
        starts, ends, own_starts, own_ends = np.array(group).T[1:]
        offsets = np.cumsum(ends - starts) - (ends - starts)
        device = trellis.emissions.device
        read = tensor_of(expand_ranges(starts, ends - starts), device)
        rows = tensor_of(expand_ranges(own_starts - starts + offsets, own_ends - own_starts), device)
        batch = trellis._replace(
            emissions=trellis.emissions[read].double(),
            transitions=trellis.transitions.double(),
            allowed=trellis.allowed[read],
            lengths=(ends - starts).tolist(),
        )
        scores, results = solver(batch, slice(group[0].own_start, group[-1].own_end), rows)
        for part, at, finite in zip(group, offsets.tolist(), torch.isfinite(scores).tolist()):
            first = at + part.own_start - part.start
            agrees = first == at or _agree(expected, [result[first] for result in results])
            good[part.sequence] &= finite and agrees
            if part.end > part.own_end:
                expected = [result[at + part.own_end - part.start].clone() for result in results]
    return good


def _agree(mine: List[Tensor], other: List[Tensor]) -> bool:
    (scores, after), (other_scores, other_after) = mine, other
    pairs = ((scores - scores.max(), other_scores - other_scores.max()), (after, other_after))
    return all(torch.allclose(a, b, rtol=0, atol=TOLERANCE) for a, b in pairs)


def _groups(windows: Iterable[Window]) -> Iterator[List[Window]]:
    """Group windows that are solved together, at most BATCH_TOKENS tokens unless a single one is longer."""
    group: List[Window] = []
    size = 0
    for part in windows:
        if group and size + part.size > BATCH_TOKENS:
            yield group
            group, size = [], 0
        group.append(part)
        size += part.size
    if group:
        yield group
