"""One matrix times many small ones, one after the other: what a recurrent layer does at each step."""

from typing import Any, Dict, Tuple

import torch
from torch import Tensor

from . import onednn

# A large weight does not stay in a core's cache from step to step. oneDNN's own layout of it is read two to three times
# as fast by a product with few rows; it takes about as long to make as five such products. A small one may stay there,
# and on Intel's processors is read nearly twice as fast if its rows are those of the product.
LARGE = 1 << 20
MANY = 8
EVERY = 32  # of the columns by which a change of a weight is seen


def hold(weight: Tensor) -> Tensor:
    """Give a weight the memory that a product reads best; `lay_out` then has nothing to copy. Values and shape stay.

    weight (Tensor): Shape [..., n_out, n_in].
    RETURNS (Tensor): The same values; where the weight is small, its transpose is contiguous.
    """
    return weight if is_large(weight) else weight.mT.contiguous().mT


def lay_out(weight: Tensor, n_calls: int) -> Tensor:
    """Prepare x W^T for many calls with one W. The layout depends on the weight alone: results are the same in every
    process.

    weight (Tensor): Shape [..., n_out, n_in].
    n_calls (int): How often `product` will be called with it.
    RETURNS (Tensor): W^T, in a layout that suits. It does not follow when the weight changes.
    """
    if not is_large(weight):
        return weight.mT.contiguous()
    if n_calls < MANY:
        return weight.mT
    return onednn.pack(weight) if onednn.is_available(weight) else weight.mT.contiguous()


class Layouts:
    """Small weights in oneDNN's layout where that was measured to be faster, kept between the calls of a prediction.
    They hold as long as the weights stay the same. Copies hold nothing.

    A change is seen by torch's own count of changes, or, where the memory was written to behind torch's back (through
    `data` or numpy, as thinc's optimisers do), by some of the columns: to read a whole weight each time would take a
    twentieth of a prediction's time. Single entries that are written so may go unseen.
    """

    def __init__(self) -> None:
        self._held: Dict[str, Tuple[int, Tensor, Tensor]] = {}

    def lay_out(self, name: str, weight: Tensor, n_calls: int, n_rows: int) -> Tensor:
        """As the function. The last bits of a product may differ from process to process.

        name (str): Of the weight.
        weight (Tensor): Shape [n_out, n_in].
        n_calls (int): How often `product` will be called with it.
        n_rows (int): Rows of x, about.
        RETURNS (Tensor): W^T, in a layout that suits.
        """
        if is_large(weight) or not onednn.is_available(weight) or not onednn.is_faster(weight, n_rows):
            return lay_out(weight, n_calls)
        return self.pack(name, weight)

    def pack(self, name: str, weight: Tensor) -> Tensor:
        """name (str): Of the weight.
        weight (Tensor): Shape [n_out, n_in].
        RETURNS (Tensor): The weight in oneDNN's own layout, or as it is if it is large: to pack it would take as long
            as a product with many rows.
        """
        if is_large(weight):
            return weight
        held, version, columns = self._held.get(name), weight._version, weight[:, ::EVERY]
        if held is None or held[0] != version or not torch.equal(held[1], columns):
            held = self._held[name] = (version, columns.clone(), onednn.pack(weight))
        return held[2]

    def __deepcopy__(self, memo: Any) -> "Layouts":
        return Layouts()

    def __reduce__(self) -> Tuple:
        return Layouts, ()


def product(x: Tensor, laid_out: Tensor) -> Tensor:
    """x (Tensor): Shape [..., n_rows, n_in].
    laid_out (Tensor): The weight, from `lay_out`.
    RETURNS (Tensor): Shape [..., n_rows, n_out].
    """
    if laid_out.is_mkldnn:
        return onednn.linear(x, laid_out)
    return torch.matmul(x, laid_out)


def is_large(weight: Tensor) -> bool:
    """weight (Tensor): Shape [..., n_out, n_in].
    RETURNS (bool): Whether it is too large for a core's cache.
    """
    return weight.shape[-1] * weight.shape[-2] >= LARGE
