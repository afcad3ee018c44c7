"""How far rounding may move a result that is computed in another order, on another processor or with more threads."""

from typing import Any

import numpy as np


def tolerance(n_terms: int, scale: Any = 1.0, dtype: str = "float32") -> float:
    """The bound of rounding errors: each addition is off by at most one rounding of the largest value.

    n_terms (int): How many additions follow each other: the length of a sum, times the number of layers or time steps
        through which the result has gone.
    scale (Any): The largest absolute value of what is added: a number, an array or a tensor.
    dtype (str): The precision of the computation.
    RETURNS (float): An absolute tolerance, for `atol` with `rtol=0`.
    """
    values = scale.detach().cpu().numpy() if hasattr(scale, "detach") else np.asarray(scale)
    return n_terms * float(np.finfo(dtype).eps) * float(np.abs(values).max(initial=0))
