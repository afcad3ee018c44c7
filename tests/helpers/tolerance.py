"""How far rounding may move a result computed in another order, on another processor or with more threads."""

import math
from typing import Any, Callable, Iterable, Mapping

import numpy as np
import pytest

# The distance from 1 to the next number.
EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23, "bfloat16": 2.0**-7}


def tolerance(n_terms: int, scale: Any = 1.0, dtype: str = "float32") -> float:
    """A bound on rounding errors: each addition is off by at most one rounding of the largest value.

    n_terms (int): The number of consecutive additions: the length of a sum, times the number of layers or time steps
        that the result has passed through. In half precision, sums are computed in full precision and rounded once, so
        it is the number of consecutive operations.
    scale (Any): The largest absolute value of what is added: a number, an array, a tensor, or several of them.
    dtype (str): The precision of the computation.
    RETURNS (float): An absolute tolerance, for `atol` with `rtol=0`.
    """
    return n_terms * EPSILON[dtype] * _largest(scale)


def near(expected: Any, n_terms: int, scale: Any = None, dtype: str = "float32") -> Any:
    """Compare up to the rounding of sums: `pytest.approx`, for numbers, lists and dicts of them.

    expected (Any): As for `pytest.approx`.
    n_terms (int): See `tolerance`.
    scale (Any): See `tolerance`. By default the expected values.
    dtype (str): See `tolerance`.
    RETURNS (Any): For the right side of `==`.
    """
    return pytest.approx(expected, rel=0, abs=tolerance(n_terms, expected if scale is None else scale, dtype))


def sampling_error(share: float, n_draws: int) -> float:
    """How far the frequency of an event in a sample may be from its probability: 4 standard errors.

    share (float): The probability of the event.
    n_draws (int): The number of independent draws.
    RETURNS (float): An absolute tolerance.
    """
    return 4 * math.sqrt(share * (1 - share) / n_draws)


def slope(value: Callable[[float], float], step: float, n_terms: int, scale: Any = None) -> Any:
    """The derivative of a function at 0, by finite differences at two distances. It is known up to the difference
    between the two, which exceeds the error of the nearer one from curvature, and the rounding of the values.

    value (Callable[[float], float]): The function.
    step (float): The nearer distance. The other is twice as far.
    n_terms (int): See `tolerance`.
    scale (Any): See `tolerance`. By default the values.
    RETURNS (Any): For the right side of `==`.
    """
    values = {distance: float(value(distance)) for distance in (step, -step, 2 * step, -2 * step)}
    near, far = ((values[d] - values[-d]) / (2 * d) for d in (step, 2 * step))
    rounding = tolerance(n_terms, values if scale is None else scale) / step
    return pytest.approx(near, rel=0, abs=abs(near - far) + rounding)


def moved(actual: Any, expected: Any, n_terms: int, dtype: str = "float32") -> Any:
    """Find the values that differ by more than rounding.

    actual, expected (Any): Arrays or tensors of the same shape.
    n_terms (int): See `tolerance`.
    dtype (str): See `tolerance`.
    RETURNS (ndarray): A boolean for each value.
    """
    ours, theirs = _array(actual), _array(expected)
    return np.abs(ours - theirs) > tolerance(n_terms, [ours, theirs], dtype)


def assert_close(actual: Any, expected: Any, n_terms: int, dtype: str = "float32", scale: Any = None) -> None:
    """Compare arrays or tensors up to the rounding of sums.

    actual, expected (Any): Arrays or tensors of the same shape.
    n_terms (int): See `tolerance`.
    dtype (str): See `tolerance`.
    scale (Any): See `tolerance`. By default the expected values.
    """
    ours, theirs = _array(actual), _array(expected)
    assert ours.shape == theirs.shape, f"shape {ours.shape}, expected {theirs.shape}"
    atol = tolerance(n_terms, theirs if scale is None else scale, dtype)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol, equal_nan=False)


def assert_all_close(actual: Any, expected: Any, n_terms: int, dtype: str = "float32") -> None:
    """Compare several arrays or tensors up to the rounding of sums. The scale is the largest value of all: a gradient
    whose contributions cancel is smaller than what was added.

    actual, expected (Any): Arrays or tensors by name, or in the same order. None must be None on both sides.
    n_terms (int): See `tolerance`.
    dtype (str): See `tolerance`.
    """
    assert len(actual) == len(expected)
    names = list(expected) if isinstance(expected, Mapping) else range(len(expected))
    scale = [expected[name] for name in names if expected[name] is not None]
    for name in names:
        ours, theirs = actual[name], expected[name]
        assert (ours is None) == (theirs is None), name
        if theirs is not None:
            assert_close(ours, theirs, n_terms, dtype, scale)


def _largest(scale: Any) -> float:
    """The largest finite absolute value. Infinite values are compared exactly."""
    if isinstance(scale, Mapping):
        scale = scale.values()
    if isinstance(scale, Iterable) and not hasattr(scale, "shape"):
        return max(map(_largest, scale), default=0.0)
    values = np.abs(_array(scale))
    return float(values.max(initial=0, where=np.isfinite(values)))


def _array(values: Any) -> Any:
    return values.detach().cpu().to_dense().numpy() if hasattr(values, "detach") else np.asarray(values)
