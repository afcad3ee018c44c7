"""The order in which a conditional random field goes through a batch: all first tokens, all second ones, and so on."""

from typing import Iterator, List, NamedTuple, Sequence, Tuple

import numpy as np
import torch
from torch import Tensor

from ..encoders.shared.packing import pack


class Layout(NamedTuple):
    """Tokens ordered by time (see `modules.packing`); empty sequences have no part in it.

    sizes (List[int]): How many sequences have a token at each time.
    order (Tensor): The token at each place, [n_tokens].
    place (Tensor): The place of each token, [n_tokens].
    rank (Tensor): The rank, by length, of the sequence at each place, [n_tokens].
    last (Tensor): The place of the last token of each sequence, by rank.
    ranked (Tensor): The sequences, by rank.
    """

    sizes: List[int]
    order: Tensor
    place: Tensor
    rank: Tensor
    last: Tensor
    ranked: Tensor


def arrange(lengths: Sequence[int], device: torch.device) -> Layout:
    """RETURNS (Layout): The order by time of sequences of these lengths."""
    counts = torch.as_tensor(lengths, dtype=torch.int64)
    present = counts.nonzero().flatten()
    packing = pack(counts[present])
    order, place = packing.rows[0], packing.inverse[0]
    sizes = np.array(packing.sizes, dtype=np.int64)
    rank = torch.from_numpy(np.arange(len(order)) - np.repeat(sizes.cumsum() - sizes, sizes))
    last = place[counts[present].cumsum(0) - 1][packing.order]
    tensors = (tensor.to(device) for tensor in (order, place, rank, last, present[packing.order]))
    return Layout(packing.sizes, *tensors)


def steps(sizes: Sequence[int], backwards: bool = False) -> Iterator[Tuple[slice, slice]]:
    """YIELDS (Tuple[slice, slice]): For each time but the first the places of its tokens, and of those before them."""
    here = sum(sizes) if backwards else sum(sizes[:1])
    for t in range(len(sizes) - 1, 0, -1) if backwards else range(1, len(sizes)):
        here -= sizes[t] * backwards
        yield slice(here, here + sizes[t]), slice(here - sizes[t - 1], here - sizes[t - 1] + sizes[t])
        here += sizes[t] * (not backwards)
