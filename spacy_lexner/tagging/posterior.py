"""The posterior of a conditional random field as a function that can be differentiated: losses on probabilities of tags
and of spans, which need the second derivative of the log partition.

`crf.posterior` gives the same numbers, faster and without a gradient. Here what is not allowed has a score so low that
its exponential is zero: unlike one of minus infinity, it never makes a gradient undefined. Sums over paths are matrix
products of exponentials, relative to the largest score of each row.
"""

from typing import List, NamedTuple, Sequence

import torch
from torch import Tensor

from .crf import Trellis, split_transitions
from .time_order import time_order

OFF = -1e9


class Posterior(NamedTuple):
    """Logs of summed weights of paths, in single precision or better."""

    upto: Tensor  # [n_tokens, n_tags], over all paths up to a token and its tag, its emission included (alpha)
    after: Tensor  # [n_tokens, n_tags], over all paths that go on from a token's tag to the end (beta)
    log_z: Tensor  # [n_tokens], over all paths of the token's sequence
    emissions: Tensor  # [n_tokens, n_tags], OFF where a tag is not allowed
    moves: Tensor  # [n_tags, n_tags], OFF where a move is not legal

    @property
    def log_p(self) -> Tensor:
        """The log probability of each tag, [n_tokens, n_tags]."""
        return self.upto + self.after - self.log_z[:, None]


def forward_backward(trellis: Trellis) -> Posterior:
    """The forward and the backward algorithm. Every sequence needs an allowed path.

    Backward is forward over mirrored sequences, with transposed moves, so each step takes both at once.
    """
    order = time_order(trellis.lengths, trellis.emissions.device)
    emissions = trellis.emissions.masked_fill(~trellis.allowed, OFF)
    transitions = trellis.transitions.masked_fill(~trellis.legal, OFF)
    moves, start, end = split_transitions(transitions)
    if not order.sizes:
        return Posterior(emissions, emissions, emissions.new_zeros(0), emissions, moves)
    mirror = _mirror(trellis.lengths, emissions.device)
    steps = torch.stack([emissions[order.token], emissions[mirror[order.token]]]).split(order.sizes, dim=1)
    shift = moves.detach().max()
    weights = (torch.stack([moves, moves.T]) - shift).exp()
    into: List[Tensor] = [torch.stack([start, end])[:, None].expand(-1, order.sizes[0], -1)]
    for step, size in zip(steps, order.sizes[1:]):
        into.append(_log_product((into[-1] + step)[:, :size], weights) + shift)
    before, after = torch.cat(into, dim=1)
    upto, after = before[order.place] + emissions, after[order.place[mirror]]
    return Posterior(upto, after, torch.logsumexp(upto + after, 1), emissions, moves)


def _mirror(lengths: Sequence[int], device: torch.device) -> Tensor:
    """For each token the one as far from the other end of its sequence, [n_tokens]."""
    n_tokens = torch.tensor(lengths, device=device)
    ends = n_tokens.cumsum(0)
    return (2 * ends - n_tokens - 1).repeat_interleave(n_tokens) - torch.arange(int(n_tokens.sum()), device=device)


def _log_product(scores: Tensor, weights: Tensor) -> Tensor:
    """Log of the product of the scores' exponentials, [2, n_rows, n_tags], with weights, [2, n_tags, n_tags]."""
    largest = scores.detach().amax(-1, keepdim=True)
    product = (scores - largest).exp() @ weights
    return product.clamp(min=torch.finfo(product.dtype).tiny).log() + largest


def span_log_p(known: Posterior, starts: Tensor, ends: Tensor) -> Tensor:
    """The log probability that a span is an entity, with whatever label, [n_spans].

    known (Posterior): That of a batch in BIOES tags, as `TagScheme` numbers them.
    starts, ends (Tensor): int64[n_spans], tokens of the batch; ends are exclusive. No span leaves its sequence.
    """
    n_labels = (known.emissions.shape[1] - 1) // 4
    begin, inside, end, single = (1 + kind + 4 * torch.arange(n_labels, device=starts.device) for kind in range(4))
    last, lengths = ends - 1, (ends - starts)[:, None]
    middle = torch.cat([known.emissions.new_zeros(1, n_labels), known.emissions[:, inside].cumsum(0)])
    # Of the tokens between the first and the last, their emissions and the moves into, within and out of them.
    within = middle[last] - middle[starts + 1].where(lengths > 1, middle[last])
    repeats = known.moves[inside, inside] * (lengths - 3).clamp(min=0)
    through = known.moves[begin, inside] + within + repeats + known.moves[inside, end]
    direct = known.moves[begin, end].expand_as(through)
    path = torch.where(lengths > 2, through, direct) + known.emissions[last[:, None], end]
    longer = known.upto[starts[:, None], begin] + path + known.after[last[:, None], end]
    alone = known.upto[starts[:, None], single] + known.after[last[:, None], single]
    return torch.logsumexp(torch.where(lengths > 1, longer, alone), 1) - known.log_z[starts]
