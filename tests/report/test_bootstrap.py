import numpy as np
import pytest
from tolerance import sampling_error

from spacy_lexner.report.bootstrap import difference, interval, resample, spread
from spacy_lexner.report.counts import ALL, Counts


def make(values, columns=(ALL,)):
    return Counts(list(columns), np.array(values).reshape(len(values), len(columns), 3))


def test_shape_and_seed():
    counts = make([[[1, 0, 1], [0, 0, 1]], [[2, 1, 0], [1, 0, 0]]], [ALL, ("label", "X")])
    samples = resample(counts, 250, seed=1)
    assert samples.shape == (250, 2, 3)
    np.testing.assert_array_equal(samples, resample(counts, 250, seed=1))
    assert (samples != resample(counts, 250, seed=2)).any()


def test_no_spread_without_variance():
    samples = resample(make([[3, 1, 2]] * 20), 50)
    assert spread(samples, 0) == {"p": [0.75, 0.75], "r": [0.6, 0.6], "f": [pytest.approx(2 / 3)] * 2}


def test_as_theory_says():
    """The precision of 400 texts with one prediction each, right in 3 of 4, has a standard error of .0217."""
    samples = resample(make([[1, 0, 0]] * 300 + [[0, 1, 0]] * 100), 4000)
    error = (0.75 * 0.25 / 400) ** 0.5
    assert np.nanstd(samples[:, 0, 0]) == pytest.approx(error, rel=4 / (2 * 4000) ** 0.5)  # of a standard deviation
    low, high = spread(samples, 0)["p"]
    # A precision is a multiple of 1 / 400; the 2.5 % beyond a border are known up to their sampling error.
    density = 0.0584 / error  # of the normal distribution there
    tolerance = 1 / 400 + sampling_error(0.025, 4000) / density
    assert low == pytest.approx(0.75 - 1.96 * error, abs=tolerance)
    assert high == pytest.approx(0.75 + 1.96 * error, abs=tolerance)


def test_nothing_to_divide_by():
    samples = resample(make([[0, 0, 0]] * 5), 20)
    assert spread(samples, 0) == {"p": None, "r": None, "f": None}
    assert difference(samples, samples) == (None, None)
    assert interval(np.array([np.nan, 1.0])) == [1.0, 1.0]


def test_differences_are_paired():
    better, worse = make([[1, 0, 0], [0, 1, 1]] * 50), make([[1, 0, 0], [0, 2, 1]] * 50)
    between, above = difference(resample(better, 200), resample(worse, 200))
    assert above == 1.0 and 0 < between[0] < between[1]
    assert difference(resample(better, 50), resample(better, 50)) == ([0.0, 0.0], 0.5)
