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
    return n_terms * float(np.finfo(dtype).eps) * float(np.abs(_array(scale)).max(initial=0))


def assert_close(actual: Any, expected: Any, n_terms: int, dtype: str = "float32") -> None:
    """Compare arrays or tensors up to the rounding of sums.

    actual, expected (Any): Arrays or tensors of the same shape. The largest expected value is the scale.
    n_terms (int): See `tolerance`.
    dtype (str): See `tolerance`.
    """
    atol = tolerance(n_terms, expected, dtype)
    np.testing.assert_allclose(_array(actual), _array(expected), rtol=0, atol=atol)


def _array(values: Any) -> Any:
    return values.detach().cpu().numpy() if hasattr(values, "detach") else np.asarray(values)
