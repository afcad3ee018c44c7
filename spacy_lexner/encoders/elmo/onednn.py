"""oneDNN's product x W^T, beside the one that torch takes by itself: on most processors MKL's.

Which of them is faster is a matter of the processor. With 8 rows and 128 × 2048 weights oneDNN takes half of MKL's time
on AMD's Zen 5, and more than MKL's on Intel's. It is measured, once for a shape.
"""

import time
from functools import cache
from typing import Callable, Optional

import torch
from torch import Tensor

# Enough to tell which one is faster, and measured within some milliseconds.
MOST_ROWS, MOST_OUTPUTS = 64, 2048
ROUNDS, CALLS = 5, 5


def is_available(weight: Tensor) -> bool:
    """weight (Tensor): Shape [..., n_out, n_in].
    RETURNS (bool): Whether oneDNN can be asked for a product with it.
    """
    # These operators are what torch.compile uses; not every build of torch has them.
    return (
        weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and torch.backends.mkldnn.is_available()
        and bool(torch.backends.mkldnn.enabled)
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
    )


def is_faster(weight: Tensor, n_rows: int) -> bool:
    """weight (Tensor): Shape [n_out, n_in], on the CPU.
    n_rows (int): Rows of x.
    RETURNS (bool): Whether oneDNN takes less time on this processor, with the current number of threads. An answer
        holds for the whole process.
    """
    n_out, n_in = weight.shape
    rounded = 1 << (max(1, n_rows) - 1).bit_length()
    return _wins(min(n_out, MOST_OUTPUTS), n_in, min(rounded, MOST_ROWS), torch.get_num_threads())


def pack(weight: Tensor) -> Tensor:
    """weight (Tensor): Shape [n_out, n_in].
    RETURNS (Tensor): A copy in oneDNN's own layout. It takes about as long to make as five products with few rows.
    """
    return torch.ops.mkldnn._reorder_linear_weight(weight.detach())


def linear(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """x (Tensor): Shape [n_rows, n_in].
    weight (Tensor): Shape [n_out, n_in], packed or not.
    bias (Optional[Tensor]): Shape [n_out].
    RETURNS (Tensor): x W^T + b, shape [n_rows, n_out].
    """
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


@cache
def _wins(n_out: int, n_in: int, n_rows: int, n_threads: int) -> bool:
    """n_threads is what the answer depends on, not an argument of the products."""
    x, weight = torch.ones(n_rows, n_in), torch.ones(n_out, n_in)
    rows, packed = weight.mT.contiguous(), pack(weight)
    return _seconds(lambda: linear(x, packed)) < _seconds(lambda: torch.mm(x, rows))


def _seconds(multiply: Callable[[], Tensor]) -> float:
    """Of the fastest round: others had to share the processor."""
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            multiply()
        rounds.append(time.perf_counter() - start)
    return min(rounds)
