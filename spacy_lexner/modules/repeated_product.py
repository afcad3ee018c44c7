"""One matrix times many small ones, one after the other: what a recurrent layer does at each step."""

from typing import List, Optional

import torch
from torch import Tensor

# A large weight does not stay in a core's cache from step to step. oneDNN's own layout of it is read two to three times
# as fast by a product with few rows; it takes about as long to make as five such products. A small one does stay there,
# and is read nearly twice as fast if its rows are those of the product.
LARGE = 1 << 20
MANY = 8


class RepeatedProduct:
    """x W^T for each direction, prepared for many calls with one W.

    weight (Tensor): Shape [2, n_out, n_in].
    n_calls (int): How often it will be used.
    """

    def __init__(self, weight: Tensor, n_calls: int):
        self.transposed = weight.transpose(1, 2)
        self.packed: Optional[List[Tensor]] = None
        if n_calls >= MANY and weight[0].numel() >= LARGE and _can_pack(weight):
            self.packed = [torch.ops.mkldnn._reorder_linear_weight(direction) for direction in weight.detach()]
        elif n_calls >= MANY:
            self.transposed = self.transposed.contiguous()

    def __call__(self, x: Tensor) -> Tensor:
        """x (Tensor): Shape [2, n_rows, n_in].
        RETURNS (Tensor): Shape [2, n_rows, n_out]. It is a tensor of its own: with a strided output the directions
            would be computed one after the other instead of one on each core.
        """
        if self.packed is None:
            return torch.bmm(x, self.transposed)
        product = torch.ops.mkldnn._linear_pointwise
        return torch.stack([product(rows, packed, None, "none", [], "") for rows, packed in zip(x, self.packed)])


def _can_pack(weight: Tensor) -> bool:
    # These operators are what torch.compile uses; not every build of torch has them.
    return (
        weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and torch.backends.mkldnn.is_available()
        and bool(torch.backends.mkldnn.enabled)
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
    )
