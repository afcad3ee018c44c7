"""Paths and probabilities of sequences of any length, in bounded memory and without a Python step for each token.

A long sequence is read in overlapping windows, many at a time, each as if it were a sequence of its own; a window
decides on the tokens of its middle part. A Markov chain forgets: some tokens on, nothing is left of how a window began.
This is checked, not assumed: where one window's part ends and the next one's begins, both must have found the same
scores up to that token (so the later one goes on as if it had read everything before) and the same result from there
backwards (so the earlier one ends as if it had read everything after). Then the result is that of the whole sequence.
A sequence that fails is done again in one piece.

Arguments are those of `modules.crf`, in any floating-point type; all is computed in float64.
"""

from typing import Callable, Iterable, Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np
import torch
from torch import Tensor

from . import crf

WINDOW, MARGIN = 2048, 256
BATCH_TOKENS = 1 << 16
TOLERANCE = 1e-7


class Window(NamedTuple):
    """A part of a sequence; the numbers are tokens of the batch.

    sequence (int): The sequence.
    start (int), stop (int): What is read.
    begin (int), end (int): What is decided.
    """

    sequence: int
    start: int
    stop: int
    begin: int
    end: int

    @property
    def size(self) -> int:
        return self.stop - self.start


def cut(lengths: Sequence[int], window: int = WINDOW, margin: int = MARGIN) -> Iterator[Window]:
    """Cut long sequences into windows.

    lengths (Sequence[int]): Number of tokens of each sequence.
    window (int): Number of tokens that a window reads at most. Sequences up to twice as long are not cut.
    margin (int): Number of tokens that a window reads but does not decide, at either end that is not the sequence's.
    YIELDS (Window): At least one for each sequence, in order. Together they decide each token once.
    """
    offset = 0
    for i, length in enumerate(lengths):
        part = window - 2 * margin if length > 2 * window else max(length, 1)
        for begin in range(0, max(length, 1), part):
            end = min(begin + part, length)
            start, stop = max(begin - margin, 0), min(end + margin, length)
            yield Window(i, offset + start, offset + stop, offset + begin, offset + end)
        offset += length


def viterbi(
    emissions: Tensor,
    transitions: Tensor,
    allowed: Tensor,
    legal: Tensor,
    lengths: Sequence[int],
    *,
    window: int = WINDOW,
    margin: int = MARGIN,
) -> Tuple[Tensor, List[bool]]:
    """Find the best allowed path of each sequence.

    RETURNS (Tuple[Tensor, List[bool]]): Tags, [n_tokens], and whether each sequence has a path of finite score; where
        it has none its tags mean nothing.
    """
    path = torch.zeros(len(emissions), dtype=torch.int64, device=emissions.device)

    def solve(batch: crf.Problem, decided: slice, rows: Tensor) -> Tuple[Tensor, List[Tensor]]:
        best = crf.viterbi(*batch)
        path[decided] = best.tags[rows]
        return best.scores, [best.upto, best.tags[:, None].double()]

    finite = _solve(crf.Problem(emissions, transitions, allowed, legal, list(lengths)), solve, window, margin)
    return path, finite


def segment_log_probs(
    emissions: Tensor,
    transitions: Tensor,
    allowed: Tensor,
    legal: Tensor,
    lengths: Sequence[int],
    tokens: Tensor,
    tags: Tensor,
    sizes: Sequence[int],
    *,
    window: int = WINDOW,
    margin: int = MARGIN,
) -> Tensor:
    """Logarithm of the probability that the path has exactly the given tags on runs of consecutive tokens. As a product
    from the end of the run: P(y_1 ... y_n) = P(y_n) P(y_n-1 | y_n) ... P(y_1 | y_2).

    tokens (Tensor): Tokens of all runs, one run after the other, [m].
    tags (Tensor): Their tags, [m].
    sizes (Sequence[int]): Number of tokens of each run; they sum to m, none is 0.
    RETURNS (Tensor): [n_runs].
    """
    counts = torch.as_tensor(sizes, dtype=torch.int64, device=tokens.device)
    last = torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)
    last[counts.cumsum(0) - 1] = True
    following = tags.roll(-1)
    factors = torch.zeros(len(tokens), dtype=torch.float64, device=tokens.device)

    def solve(batch: crf.Problem, decided: slice, rows: Tensor) -> Tuple[Tensor, List[Tensor]]:
        post = crf.posterior(*batch)
        here = ((tokens >= decided.start) & (tokens < decided.stop)).nonzero().flatten()
        row, tag, then = rows[tokens[here] - decided.start], tags[here], following[here]
        inner = post.odds[row, tag] * post.weights[tag, then] * post.per_mass[row, then]
        factors[here] = torch.where(last[here], post.unary[row, tag], inner)
        return post.log_z, [post.alpha, post.unary]

    _solve(crf.Problem(emissions, transitions, allowed, legal, list(lengths)), solve, window, margin)
    run = torch.repeat_interleave(torch.arange(len(sizes), device=tokens.device), counts)
    return factors.new_zeros(len(sizes)).index_add(0, run, factors.log())


class Conditionals(NamedTuple):
    """Probabilities of tags, and of each tag's predecessor: if a token's successor has tag j, its own is i with
    probability odds[token, i] * weights[i, j] * per_mass[token, j]. All are float64.

    unary (NDArray[float]), odds (NDArray[float]), per_mass (NDArray[float]): [n_tokens, n_tags].
    weights (NDArray[float]): [n_tags, n_tags].
    """

    unary: np.ndarray
    odds: np.ndarray
    per_mass: np.ndarray
    weights: np.ndarray


def conditionals(
    emissions: Tensor,
    transitions: Tensor,
    allowed: Tensor,
    legal: Tensor,
    lengths: Sequence[int],
    *,
    window: int = WINDOW,
    margin: int = MARGIN,
) -> Conditionals:
    """Probabilities of tags, and of the predecessors of tags.

    RETURNS (Conditionals): The probabilities.
    """
    n_tokens, n_tags = emissions.shape
    unary, odds, per_mass = (np.zeros((n_tokens, n_tags)) for _ in range(3))
    weights = np.zeros((n_tags, n_tags))

    def solve(batch: crf.Problem, decided: slice, rows: Tensor) -> Tuple[Tensor, List[Tensor]]:
        post = crf.posterior(*batch)
        for array, part in ((unary, post.unary), (odds, post.odds), (per_mass, post.per_mass)):
            array[decided] = part[rows].cpu().numpy()
        weights[:] = post.weights.cpu().numpy()
        return post.log_z, [post.alpha, post.unary]

    _solve(crf.Problem(emissions, transitions, allowed, legal, list(lengths)), solve, window, margin)
    return Conditionals(unary, odds, per_mass, weights)


# Takes a part of the problem, the tokens to decide and their rows in the part. Gives the score of each sequence of the
# part, and for each row what depends on the tokens before it (as scores, of which only differences matter) and after.
Solver = Callable[[crf.Problem, slice, Tensor], Tuple[Tensor, List[Tensor]]]


def _solve(problem: crf.Problem, solver: Solver, window: int, margin: int) -> List[bool]:
    """Solve a problem by windows. RETURNS (List[bool]): Whether each sequence has a finite score."""
    good = _solve_windows(problem, solver, cut(problem.lengths, window, margin))
    for whole in cut(problem.lengths, window=sum(problem.lengths)):
        if not good[whole.sequence] and whole.size > 2 * window:
            good[whole.sequence] = _solve_windows(problem, solver, [whole])[whole.sequence]
    return good


def _solve_windows(problem: crf.Problem, solver: Solver, windows: Iterable[Window]) -> List[bool]:
    """RETURNS (List[bool]): For each sequence whether scores are finite and neighbouring windows agree."""
    good = [True] * len(problem.lengths)
    expected: List[Tensor] = []
    for group in _groups(windows):
        offsets = [0]
        for part in group:
            offsets.append(offsets[-1] + part.size)
        device = problem.emissions.device
        read = torch.cat([torch.arange(part.start, part.stop) for part in group]).to(device)
        rows = torch.cat([torch.arange(part.begin, part.end) - part.start + at for part, at in zip(group, offsets)])
        batch = problem._replace(
            emissions=problem.emissions[read].double(),
            transitions=problem.transitions.double(),
            allowed=problem.allowed[read],
            lengths=[part.size for part in group],
        )
        scores, results = solver(batch, slice(group[0].begin, group[-1].end), rows.to(device))
        for part, at, finite in zip(group, offsets, torch.isfinite(scores).tolist()):
            first = at + part.begin - part.start
            agrees = first == at or _agree(expected, [result[first] for result in results])
            good[part.sequence] &= finite and agrees
            if part.stop > part.end:
                expected = [result[at + part.end - part.start].clone() for result in results]
    return good


def _agree(mine: List[Tensor], other: List[Tensor]) -> bool:
    (scores, after), (other_scores, other_after) = mine, other
    scores, other_scores = scores - scores.max(), other_scores - other_scores.max()
    pairs = ((scores, other_scores), (after, other_after))
    return all(torch.allclose(a, b, rtol=0, atol=TOLERANCE) for a, b in pairs)


def _groups(windows: Iterable[Window]) -> Iterator[List[Window]]:
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
