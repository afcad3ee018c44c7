"""One matrix times many small ones, one after the other: what a recurrent layer does at each step."""

import torch
from torch import Tensor

# A large weight does not stay in a core's cache from step to step. oneDNN's own layout of it is read two to three times
# as fast by a product with few rows; it takes about as long to make as five such products. A small one does stay there,
# and is read nearly twice as fast if its rows are those of the product.
LARGE = 1 << 20
MANY = 8


def hold(weight: Tensor) -> Tensor:
    """Give a weight the memory that a product reads best; `lay_out` then has nothing to copy. Values and shape stay.

    weight (Tensor): Shape [..., n_out, n_in].
    RETURNS (Tensor): The same values; where the weight is small, its transpose is contiguous.
    """
    return weight if _is_large(weight) else weight.mT.contiguous().mT


def lay_out(weight: Tensor, n_calls: int) -> Tensor:
    """Prepare x W^T for many calls with one W.

    weight (Tensor): Shape [..., n_out, n_in].
    n_calls (int): How often `product` will be called with it.
    RETURNS (Tensor): W^T, in a layout that suits. It does not follow when the weight changes.
    """
    if n_calls < MANY and _is_large(weight):
        return weight.mT
    return torch.ops.mkldnn._reorder_linear_weight(weight.detach()) if _packs(weight) else weight.mT.contiguous()


def _packs(weight: Tensor) -> bool:
    """weight (Tensor): Shape [..., n_out, n_in].
    RETURNS (bool): Whether oneDNN's layout is the best for it; it holds a single matrix.
    """
    # These operators are what torch.compile uses; not every build of torch has them.
    return (
        _is_large(weight)
        and weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and torch.backends.mkldnn.is_available()
        and bool(torch.backends.mkldnn.enabled)
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")
    )


def product(x: Tensor, laid_out: Tensor) -> Tensor:
    """x (Tensor): Shape [..., n_rows, n_in].
    laid_out (Tensor): The weight, from `lay_out`.
    RETURNS (Tensor): Shape [..., n_rows, n_out].
    """
    if laid_out.is_mkldnn:
        return torch.ops.mkldnn._linear_pointwise(x, laid_out, None, "none", [], "")
    return torch.matmul(x, laid_out)


def _is_large(weight: Tensor) -> bool:
    return weight.shape[-1] * weight.shape[-2] >= LARGE
