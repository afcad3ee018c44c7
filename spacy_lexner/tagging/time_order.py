"""The tokens of a batch of sequences, ordered by time, as recursions over the batch visit them."""

from typing import Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np
import torch
from torch import Tensor

from ..tensors.convert import tensor_of


class TimeOrder(NamedTuple):
    """All first tokens, all second ones, and so on, each time those of longer sequences first. Empty sequences are left
    out."""

    sizes: List[int]  # number of sequences that have a token at each time
    token: Tensor  # the token at each place, [n_tokens]
    place: Tensor  # the place of each token, [n_tokens]
    last: Tensor  # the place of the last token of each sequence, by rank
    ranked: Tensor  # the sequences, longest first


def time_order(lengths: Sequence[int], device: torch.device) -> TimeOrder:
    """RETURNS (TimeOrder): The order of the tokens of sequences that follow one another without padding."""
    n_tokens = np.array(lengths, dtype=np.int64)
    ranked = np.argsort(-n_tokens, kind="stable")[: np.count_nonzero(n_tokens)]
    counts, starts = n_tokens[ranked], (n_tokens.cumsum() - n_tokens)[ranked]
    times = np.arange(max(lengths, default=0))
    sizes = len(counts) - np.searchsorted(counts[::-1], times, side="right")
    rank = np.arange(n_tokens.sum()) - np.repeat(sizes.cumsum() - sizes, sizes)
    token = starts[rank] + np.repeat(times, sizes)
    place = np.empty_like(token)
    place[token] = np.arange(len(token))
    arrays = (token, place, place[starts + counts - 1], ranked)
    return TimeOrder(sizes.tolist(), *(tensor_of(array, device) for array in arrays))


def steps(sizes: Sequence[int], backwards: bool = False) -> Iterator[Tuple[slice, slice]]:
    """For each time but the first, the places of its tokens and of their predecessors."""
    here = sum(sizes) if backwards else sum(sizes[:1])
    for t in range(len(sizes) - 1, 0, -1) if backwards else range(1, len(sizes)):
        here -= sizes[t] * backwards
        yield slice(here, here + sizes[t]), slice(here - sizes[t - 1], here - sizes[t - 1] + sizes[t])
        here += sizes[t] * (not backwards)
