import numpy as np
import pytest

from spacy_lexner.report.confidence import measure_confidence
from spacy_lexner.report.errors import Outcome
from spacy_lexner.visualize.lattice import Mark


def outcomes(*scored):
    return [Outcome("correct" if right else "spurious", None, Mark(0, 1, "X", score)) for score, right in scored]


def test_figures():
    found = measure_confidence(outcomes((0.95, True), (0.95, False), (0.15, False), (1.0, True)))
    assert found["n"] == 4
    assert found["ece"] == pytest.approx((abs(2 - 2.9) + abs(0 - 0.15)) / 4)
    top, low = found["bins"][9], found["bins"][1]
    assert (top["low"], top["high"], top["right"], top["wrong"]) == (0.9, 1.0, 2, 1)
    assert top["mean_score"] == pytest.approx(2.9 / 3) and top["precision"] == pytest.approx(2 / 3)
    assert (low["right"], low["wrong"], low["precision"]) == (0, 1, 0.0)
    assert found["bins"][0]["precision"] is None


def test_perfect_calibration():
    generator = np.random.default_rng(0)
    scores = generator.random(20000)
    found = measure_confidence(outcomes(*zip(scores, generator.random(20000) < scores)))
    assert found["ece"] < 0.02


def test_no_scores():
    assert measure_confidence([Outcome("missed", Mark(0, 1, "X"), None), *outcomes((None, True))]) is None
    assert measure_confidence([]) is None
