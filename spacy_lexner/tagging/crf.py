"""Linear-chain conditional random field over a batch of sequences of any length (Lafferty et al. 2001).

Sums over paths are matrix products of exponentials, shifted by the largest score of each row. Scores so far below it
that they would underflow are clamped, so a path that exists is never lost and the result stays finite.

The recursions are loops of NumPy, on the CPU wherever the scores are, see `moves`.
"""

import math
from typing import Any, List, NamedTuple, Sequence, Tuple

import numpy as np
import torch
from torch import Tensor

from ..tensors.convert import numpy_of, tensor_of
from .moves import LiveMoves, Moves, make_moves
from .time_order import TimeOrder, steps, time_order

NEVER = float("-inf")
MAX_CANDIDATES = 1 << 24  # numbers that one step of k_best compares


class Trellis(NamedTuple):
    """A batch of sequences, and the paths of tags that they may take; any other path has probability zero, exactly.
    Partial annotation (Tsuboi et al. 2008) allows one tag where it is known, all where it is missing."""

    emissions: Tensor  # [n_tokens, n_tags], scores of tags; the sequences follow one another without padding
    transitions: Tensor  # [n_tags + 1, n_tags + 1], scores of moves, row to column; last row: start, last column: end
    allowed: Tensor  # bool[n_tokens, n_tags], the tags that a token may have
    legal: Tensor  # bool, like `transitions`: the moves that a path may make
    lengths: List[int]  # tokens of each sequence; 0 is fine

    def take(self, sequences: Sequence[int]) -> "Trellis":
        """Select sequences of the batch, at least one; repeats are fine."""
        emissions, allowed = torch.split(self.emissions, self.lengths), torch.split(self.allowed, self.lengths)
        return self._replace(
            emissions=torch.cat([emissions[i] for i in sequences]),
            allowed=torch.cat([allowed[i] for i in sequences]),
            lengths=[self.lengths[i] for i in sequences],
        )


class BestPaths(NamedTuple):
    """The best path of each sequence."""

    tags: Tensor  # [n_tokens]
    scores: Tensor  # [n_sequences]; 0 for an empty sequence; -inf, and tags without meaning, if no path is allowed
    upto: Tensor  # [n_tokens, n_tags], the score of the best path up to a token and its tag


class Marginals(NamedTuple):
    """Probabilities of tags and of pairs of tags; zero where a sequence has no allowed path. If the next token has tag
    j, a token has tag i with probability odds[token, i] * weights[i, j] * per_mass[token, j]."""

    unary: Tensor  # [n_tokens, n_tags], the probability of each tag
    odds: Tensor  # [n_tokens, n_tags]
    weights: Tensor  # [n_tags, n_tags]
    per_mass: Tensor  # [n_tokens, n_tags]


def log_partition(trellis: Trellis) -> Tensor:
    """Log of the summed exponentiated scores of all allowed paths, [n_sequences]: 0 for an empty sequence, -inf without
    an allowed path; with one tag allowed per token, the score of that path. Differentiable once, in all scores."""
    order = time_order(trellis.lengths, trellis.emissions.device)
    return _by_sequence(_LogPartition.apply(*masked(trellis, order), order), trellis, order)


@torch.no_grad()
def posterior(trellis: Trellis) -> Tuple[Tensor, Tensor, Marginals]:
    """The forward-backward algorithm, without gradient: the log partition, [n_sequences]; the log of the summed weights
    of the paths up to a token and its tag, [n_tokens, n_tags]; the probabilities."""
    order = time_order(trellis.lengths, trellis.emissions.device)
    scores, transitions = map(numpy_of, masked(trellis, order))
    alpha, log_z, moves = _forward(scores, transitions, order)
    unary, odds, per_mass = _backward(alpha, log_z, transitions, order, moves, np.ones_like(log_z))
    weights = tensor_of(moves.weights, trellis.emissions.device)
    known = Marginals(_by_token(unary, order), _by_token(odds, order), weights, _by_token(per_mass, order))
    return _by_sequence(tensor_of(log_z), trellis, order), _by_token(alpha, order), known


@torch.no_grad()
@np.errstate(all="ignore")
def viterbi(trellis: Trellis) -> BestPaths:
    """The best allowed path of each sequence (Viterbi 1967); the lowest tag wins a tie. No gradient."""
    order = time_order(trellis.lengths, trellis.emissions.device)
    upto, transitions = map(numpy_of, masked(trellis, order))
    scores, start, end = split_transitions(transitions)
    moves = make_moves(scores, scores, upto, order.sizes)
    upto[: len(order.ranked)] += start
    for time, (here, before) in enumerate(steps(order.sizes), 1):
        upto[here] += moves.best(upto[before], time)
    last = numpy_of(order.last)
    ends, into = upto[last] + end, scores.T
    path = np.zeros(len(upto), dtype=np.int64)
    path[last] = ends.argmax(1)
    for here, before in steps(order.sizes, backwards=True):  # where the best came from, on the path alone
        path[before] = (upto[before] + into[path[here]]).argmax(1)
    totals = _by_sequence(tensor_of(ends.max(1)), trellis, order)
    return BestPaths(_by_token(path, order), totals, _by_token(upto, order))


def _by_token(rows: np.ndarray, order: TimeOrder) -> Tensor:
    """Rows by place as those of the tokens, where the scores are."""
    return tensor_of(rows, order.place.device)[order.place]


def _by_sequence(values: Tensor, trellis: Trellis, order: TimeOrder) -> Tensor:
    """Values by rank as those of the sequences; 0 for empty ones."""
    values = values.to(order.ranked.device)
    return values.new_zeros(len(trellis.lengths)).index_copy(0, order.ranked, values)


def k_best(trellis: Trellis, k: int) -> Tuple[Tensor, Tensor]:
    """The k best (at least 1) allowed paths of each sequence, the best first: tags, [n_tokens, k], and scores,
    [n_sequences, k]; -inf, and meaningless tags, where there are fewer. Viterbi's recursion with each tag's k best
    scores (Schwartz & Chow 1990): memory grows with the length of a sequence times the number of tags times k."""
    n_together = max(1, MAX_CANDIDATES // (trellis.emissions.shape[1] ** 2 * k))
    found: List[Tuple[Tensor, Tensor]] = []
    for low in range(0, len(trellis.lengths), n_together):
        found.append(_k_best(trellis.take(range(low, min(low + n_together, len(trellis.lengths)))), k))
    tags, scores = map(torch.cat, zip(*found))
    return tags, scores


@torch.no_grad()
def _k_best(trellis: Trellis, k: int) -> Tuple[Tensor, Tensor]:
    order = time_order(trellis.lengths, trellis.emissions.device)
    scores, transitions = masked(trellis, order)
    moves, start, end = split_transitions(transitions)
    n_running, n_tags = len(order.ranked), scores.shape[1]
    best = scores.new_full((n_running, n_tags, k), NEVER)
    best[:, :, 0] = scores[:n_running] + start
    origin = torch.zeros((len(scores), n_tags * k), dtype=torch.int32)
    into = moves.T.contiguous().unsqueeze(2)
    for here, _ in steps(order.sizes):
        n = here.stop - here.start
        values, places = (best[:n].unsqueeze(1) + into).flatten(2).topk(k, dim=2)
        best[:n] = values + scores[here].unsqueeze(2)
        origin[here] = places.flatten(1).to("cpu", torch.int32)
    values, places = (best + end.unsqueeze(1)).flatten(1).topk(k, dim=1)
    path = np.zeros((len(scores), k), dtype=np.int64)
    path[numpy_of(order.last)] = numpy_of(places)
    pointers = numpy_of(origin)
    for here, before in steps(order.sizes, backwards=True):
        path[before] = np.take_along_axis(pointers[here], path[here], 1)
    totals = scores.new_full((len(trellis.lengths), k), NEVER)
    totals[:, 0] = 0.0  # of empty sequences
    totals[order.ranked] = values
    return tensor_of(path // k, scores.device)[order.place], totals


def masked(trellis: Trellis, order: TimeOrder) -> Tuple[Tensor, Tensor]:
    """Emissions by place, and transitions, in at least single precision; -inf where not allowed or not legal."""
    pairs = ((trellis.emissions, trellis.allowed), (trellis.transitions, trellis.legal))
    emissions, transitions = (
        scores.to(torch.promote_types(scores.dtype, torch.float32)).masked_fill(~mask, NEVER) for scores, mask in pairs
    )
    return emissions[order.token], transitions


def split_transitions(transitions: Any) -> Tuple[Any, Any, Any]:
    """Moves between tags, [n_tags, n_tags]; start and end scores, [n_tags] each; of a tensor or an array."""
    return transitions[:-1, :-1], transitions[-1, :-1], transitions[:-1, -1]


class _LogPartition(torch.autograd.Function):
    """Log partition of sequences, by rank. Its gradient is the expected number of uses of each score."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, transitions: Tensor, order: TimeOrder) -> Tensor:  # type: ignore[override]
        ctx.order, ctx.transitions = order, numpy_of(transitions)
        ctx.alpha, ctx.log_z, ctx.moves = _forward(numpy_of(scores), ctx.transitions, order)
        return tensor_of(ctx.log_z, scores.device)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_log_z: Tensor) -> Tuple[Tensor, Tensor, None]:  # type: ignore[override]
        order, device = ctx.order, d_log_z.device
        found = _backward(ctx.alpha, ctx.log_z, ctx.transitions, order, ctx.moves, numpy_of(d_log_z))
        unary, odds, per_mass = (tensor_of(rows, device) for rows in found)
        n_first = len(order.ranked)
        before = order.place[order.token[n_first:] - 1]
        d_transitions = unary.new_zeros(ctx.transitions.shape)
        weights = tensor_of(ctx.moves.weights, device)
        d_transitions[:-1, :-1] = weights * (odds[before].T @ (unary[n_first:] * per_mass[before]))
        d_transitions[-1, :-1] = unary[:n_first].sum(0)
        d_transitions[:-1, -1] = unary[order.last].sum(0)
        return unary, d_transitions, None


@np.errstate(all="ignore")  # logarithms of 0 are meant, and what is not finite is found in the result
def _forward(scores: np.ndarray, transitions: np.ndarray, order: TimeOrder) -> Tuple[np.ndarray, np.ndarray, Moves]:
    """By place, log of the sum over all paths ending in a tag, its emission included; by rank, the log partition; the
    moves, by the exponentials of their scores, relative to the best one."""
    move_scores, start, end = split_transitions(transitions)
    weights, shift = _exponentials(move_scores, move_scores.max())
    moves = make_moves(move_scores, weights, scores, order.sizes)
    alpha = scores.copy()
    alpha[: len(order.ranked)] += start
    for time, (here, before) in enumerate(steps(order.sizes), 1):
        odds, top = _exponentials(alpha[before], alpha[before].max(1, keepdims=True))
        alpha[here] += np.log(moves.forward(odds, time)) + (top + shift)
    return alpha, np.logaddexp.reduce(alpha[numpy_of(order.last)] + end, 1), moves


@np.errstate(all="ignore")
def _backward(
    alpha: np.ndarray, log_z: np.ndarray, transitions: np.ndarray, order: TimeOrder, moves: Moves, weight: np.ndarray
) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`unary`, `odds` and `per_mass` of Marginals by place, times a weight for each sequence, from the last token
    backwards: P(i) is the sum over j of P(j) P(i | j)."""
    _, _, end = split_transitions(transitions)
    odds, _ = _exponentials(alpha, alpha.max(1, keepdims=True))
    mass = _masses(odds, order, moves)
    per_mass = np.where(mass == 0, 0.0, 1 / mass)
    log_z = np.where(log_z == NEVER, np.inf, log_z)  # without any path, nothing has a probability
    unary, last = np.zeros_like(alpha), numpy_of(order.last)
    unary[last] = np.exp(alpha[last] + end - log_z[:, None]) * weight[:, None]
    times = range(len(order.sizes) - 1, 0, -1)
    for time, (here, before) in zip(times, steps(order.sizes, backwards=True)):
        unary[before] = moves.backward(unary[here] * per_mass[before], time) * odds[before]
    return unary, odds, per_mass


def _masses(odds: np.ndarray, order: TimeOrder, moves: Moves) -> np.ndarray:
    """By place, the sum of the odds of the tags of a token over those that each tag of the next may follow."""
    if not isinstance(moves, LiveMoves):
        return odds @ moves.weights
    mass = np.zeros_like(odds)
    for time, (_, before) in enumerate(steps(order.sizes), 1):
        mass[before] = moves.forward(odds[before], time)
    return mass


def _exponentials(scores: np.ndarray, top: Any) -> Tuple[np.ndarray, Any]:
    """Exponentials relative to the best scores, and these."""
    info = np.finfo(scores.dtype)
    least = 0.49 * math.log(info.tiny)  # half the range of exponents: the product of two is still a normal number
    top = np.maximum(top, info.min)
    odds = scores - top
    return np.exp(np.maximum(odds, least, out=odds, where=odds > NEVER)), top
