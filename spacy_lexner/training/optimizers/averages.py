"""Moving averages of parameters, as thinc's optimisers keep them."""

import torch
from torch import Tensor

MAX_DECAY = 0.9999
N_RISING = 89_990  # updates until `MAX_DECAY` is reached: (1 + n) / (10 + n)


def move_average(average: Tensor, weights: Tensor, n_updates: int) -> None:
    """Like thinc's `Ops.update_averages`, but in one pass over memory without its two temporary arrays, since vector
    tables are large. `n_updates` counts this update, too."""
    average.lerp_(weights.to(average.dtype), 1 - min((1 + n_updates) / (10 + n_updates), MAX_DECAY))


def decay_between(since: Tensor, n_updates: int) -> Tensor:
    """The share of an average that is left after further updates: the product of their decays.

    since (Tensor): int64[n], the number of updates so far.
    n_updates (int): The number of updates then, at least as many.
    RETURNS (Tensor): float64[n].
    """
    # (2 + a) / (11 + a) * (3 + a) / (12 + a) * ... * (1 + b) / (10 + b): all but nine factors cancel out.
    first, last = since.clamp(max=N_RISING).double(), min(n_updates, N_RISING)
    left = torch.ones_like(first)
    for i in range(2, 11):
        left *= (first + i) / (last + i)
    return left * MAX_DECAY ** (max(n_updates, N_RISING) - since.clamp(min=N_RISING)).double()
