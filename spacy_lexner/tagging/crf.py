"""Linear-chain conditional random field over a batch of sequences of any lengths (Lafferty et al. 2001).

Every function takes the same five things:

emissions (Tensor): Scores of tags, [n_tokens, n_tags]; the sequences of the batch follow one another without padding.
transitions (Tensor): [n_tags + 1, n_tags + 1], from row to column; the last row scores the first tag of a sequence and
    the last column its last tag.
allowed (Tensor): Boolean, [n_tokens, n_tags]: the tags that a token may have. This is how partial annotation is given
    (Tsuboi et al. 2008): one tag where it is known, all where it is missing.
legal (Tensor): Boolean, of the shape of `transitions`: the moves that a path may make.
lengths (Sequence[int]): Number of tokens of each sequence; 0 is a length like any other.

A path that uses what is not allowed or not legal has probability zero, exactly. Sums over paths are matrix products of
exponentials, shifted by the largest score of each row. Scores that lie below it by more than the number format can tell
from nothing count as the least it can tell, so that a path that exists is never lost and the result is finite.
"""

import math
from functools import lru_cache
from typing import Any, List, NamedTuple, Sequence, Tuple

import numpy as np
import torch
from torch import Tensor

from .crf_layout import Layout, arrange, steps

NEVER = float("-inf")


def log_partition(
    emissions: Tensor, transitions: Tensor, allowed: Tensor, legal: Tensor, lengths: Sequence[int]
) -> Tensor:
    """Logarithm of the summed exponentiated scores of all allowed paths; the score of a known path is the special case
    in which each token is allowed one tag. Differentiable once in emissions and transitions.

    RETURNS (Tensor): [n_sequences]; 0 for an empty sequence, -inf for one without any allowed path.
    """
    layout = arrange(lengths, emissions.device)
    scores = masked(emissions, allowed)[layout.order]
    log_z = _LogPartition.apply(scores, masked(transitions, legal), layout)
    return log_z.new_zeros(len(lengths)).index_copy(0, layout.ranked, log_z)


class Problem(NamedTuple):
    """The arguments of every function."""

    emissions: Tensor
    transitions: Tensor
    allowed: Tensor
    legal: Tensor
    lengths: List[int]


class Posterior(NamedTuple):
    """What a batch of sequences looks like given the model; rows are tokens.

    log_z (Tensor): The log partitions, [n_sequences].
    alpha (Tensor): Log of the summed weights of the paths up to a token and its tag, [n_tokens, n_tags].
    unary (Tensor): Probability of each tag, [n_tokens, n_tags].
    odds (Tensor), weights (Tensor), per_mass (Tensor): If a token's successor has tag j, its own is i with probability
        odds[token, i] * weights[i, j] * per_mass[token, j].
    """

    log_z: Tensor
    alpha: Tensor
    unary: Tensor
    odds: Tensor
    weights: Tensor
    per_mass: Tensor


def posterior(
    emissions: Tensor, transitions: Tensor, allowed: Tensor, legal: Tensor, lengths: Sequence[int]
) -> Posterior:
    """Probabilities of tags and of pairs of tags, by the forward-backward algorithm. No gradient.

    RETURNS (Posterior): All zero where a sequence has no allowed path.
    """
    with torch.no_grad():
        layout = arrange(lengths, emissions.device)
        transitions = masked(transitions, legal)
        alpha, log_z = _forward(masked(emissions, allowed)[layout.order], transitions, layout)
        unary, odds, per_mass, weights = _expect(alpha, log_z, transitions, layout, torch.ones_like(log_z))
        log_z = log_z.new_zeros(len(lengths)).index_copy(0, layout.ranked, log_z)
        alpha, unary, odds, per_mass = (by_place[layout.place] for by_place in (alpha, unary, odds, per_mass))
        return Posterior(log_z, alpha, unary, odds, weights, per_mass)


def marginals(emissions: Tensor, transitions: Tensor, allowed: Tensor, legal: Tensor, lengths: Sequence[int]) -> Tensor:
    """Probability of each tag at each token.

    RETURNS (Tensor): [n_tokens, n_tags]; rows sum to 1, or to 0 where a sequence has no allowed path.
    """
    return posterior(emissions, transitions, allowed, legal, lengths).unary


class BestPaths(NamedTuple):
    """The best paths of a batch of sequences.

    tags (Tensor): The tag of each token, [n_tokens].
    scores (Tensor): The score of each path, [n_sequences]: 0 for an empty sequence; -inf for one without any allowed
        path, whose tags then mean nothing.
    upto (Tensor): The score of the best path up to a token and its tag, [n_tokens, n_tags].
    """

    tags: Tensor
    scores: Tensor
    upto: Tensor


def viterbi(
    emissions: Tensor, transitions: Tensor, allowed: Tensor, legal: Tensor, lengths: Sequence[int]
) -> BestPaths:
    """Find the best allowed path of each sequence (Viterbi 1967). The lowest tag wins a tie. No gradient.

    RETURNS (BestPaths): The paths.
    """
    with torch.no_grad():
        layout = arrange(lengths, emissions.device)
        moves, start, end = parts(masked(transitions, legal))
        into = moves.T.contiguous()
        best = masked(emissions, allowed)[layout.order]
        best[: len(layout.ranked)] += start
        origin = torch.zeros(best.shape, dtype=torch.int16, device=best.device)
        for here, before in steps(layout.sizes):
            values, tags = (best[before].unsqueeze(1) + into).max(2)
            best[here] += values
            origin[here] = tags.to(origin.dtype)
        score, tag = (best[layout.last] + end).max(1)
        path = _trace(origin.cpu().numpy(), tag.cpu().numpy(), layout)
        scores = score.new_zeros(len(lengths)).index_copy(0, layout.ranked, score)
        return BestPaths(torch.from_numpy(path).to(best.device)[layout.place], scores, best[layout.place])


class _LogPartition(torch.autograd.Function):
    """Log partition of sequences, by rank. Its gradient is the expected number of uses of each score."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, transitions: Tensor, layout: Layout) -> Tensor:  # type: ignore[override]
        alpha, log_z = _forward(scores, transitions, layout)
        ctx.save_for_backward(transitions, alpha, log_z)
        ctx.layout = layout
        return log_z

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_log_z: Tensor) -> Tuple[Tensor, Tensor, None]:  # type: ignore[override]
        transitions, alpha, log_z = ctx.saved_tensors
        layout: Layout = ctx.layout
        unary, odds, per_mass, weights = _expect(alpha, log_z, transitions, layout, d_log_z)
        n_first = len(layout.ranked)
        before = layout.place[layout.order[n_first:] - 1]
        d_transitions = torch.zeros_like(transitions)
        d_transitions[:-1, :-1] = weights * (odds[before].T @ (unary[n_first:] * per_mass[before]))
        d_transitions[-1, :-1] = unary[:n_first].sum(0)
        d_transitions[:-1, -1] = unary[layout.last].sum(0)
        return unary, d_transitions, None


def _forward(scores: Tensor, transitions: Tensor, layout: Layout) -> Tuple[Tensor, Tensor]:
    """Log of the sum over all paths that end in a tag, that tag's emission included; and the log partition by rank."""
    moves, start, end = parts(transitions)
    weights, shift = _exponentials(moves)
    alpha = scores.clone()
    alpha[: len(layout.ranked)] += start
    for here, before in steps(layout.sizes):
        alpha[here] += _log_product(alpha[before], weights, shift)
    return alpha, torch.logsumexp(alpha[layout.last] + end, 1)


def _expect(
    alpha: Tensor, log_z: Tensor, transitions: Tensor, layout: Layout, weight: Tensor
) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    """Probabilities of tags, times a weight for each sequence, from the last token backwards: P(i) is the sum over j of
    P(j) P(i | j), and the tag before j is i with probability odds[i] * weights[i, j] * per_mass[j].

    RETURNS (Tuple[Tensor, Tensor, Tensor, Tensor]): Probabilities by place; odds and per_mass by the place of the first
        of the two tokens; weights.
    """
    moves, _, end = parts(transitions)
    weights, _ = _exponentials(moves)
    odds, _ = _odds(alpha)
    mass = odds @ weights
    per_mass = (1 / mass).masked_fill_(mass == 0, 0.0)
    log_z = log_z.masked_fill(log_z == NEVER, float("inf"))  # without any path, nothing has a probability
    unary = torch.zeros_like(alpha)
    unary[layout.last] = (alpha[layout.last] + end - log_z[:, None]).exp_() * weight[:, None]
    back = weights.T.contiguous()
    for here, before in steps(layout.sizes, backwards=True):
        torch.mm(unary[here] * per_mass[before], back, out=unary[before])
        unary[before] *= odds[before]
    return unary, odds, per_mass, weights


def _log_product(scores: Tensor, weights: Tensor, shift: Tensor) -> Tensor:
    odds, top = _odds(scores)
    return (odds @ weights).log_().add_(top + shift)


def _odds(scores: Tensor) -> Tuple[Tensor, Tensor]:
    """Exponentials relative to the best score of each row, and that score."""
    top = scores.amax(1, keepdim=True).clamp_(min=torch.finfo(scores.dtype).min)
    return (scores - top).clamp_(min=_least(scores.dtype)).exp_().masked_fill_(scores == NEVER, 0.0), top


def _exponentials(moves: Tensor) -> Tuple[Tensor, Tensor]:
    shift = moves.amax().clamp(min=torch.finfo(moves.dtype).min)
    return (moves - shift).clamp_(min=_least(moves.dtype)).exp_().masked_fill_(moves == NEVER, 0.0).contiguous(), shift


@lru_cache(maxsize=8)
def _least(dtype: torch.dtype) -> float:
    """Half the range of exponents: the product of two such exponentials is still a normal number."""
    return 0.49 * math.log(torch.finfo(dtype).tiny)


def masked(scores: Tensor, mask: Tensor) -> Tensor:
    """RETURNS (Tensor): Scores in single precision at least, -inf where the mask is False."""
    dtype = torch.promote_types(scores.dtype, torch.float32)
    return scores.to(dtype).masked_fill(~mask, NEVER)


def parts(transitions: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    """RETURNS (Tuple[Tensor, Tensor, Tensor]): Moves between tags, [n_tags, n_tags], start and end scores, [n_tags]."""
    return transitions[:-1, :-1], transitions[-1, :-1], transitions[:-1, -1]


def _trace(origin: np.ndarray, last_tags: np.ndarray, layout: Layout) -> np.ndarray:
    """Follow the pointers of places back from the last tags."""
    path = np.zeros(len(origin), dtype=np.int64)
    path[layout.last.cpu().numpy()] = last_tags
    for here, before in steps(layout.sizes, backwards=True):
        path[before] = origin[np.arange(here.start, here.stop), path[here]]
    return path
