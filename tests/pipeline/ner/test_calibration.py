import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.pipeline.ner.calibration import Calibration, Confidence, Scale, check_threshold, logit
from spacy_lexner.pipeline.ner.entity_search import Entity

UNIT = st.floats(0, 1)


@given(UNIT, UNIT, st.floats(0.1, 10), st.floats(-5, 5))
def test_a_scale_is_monotone_and_stays_between_0_and_1(a, b, temperature, bias):
    scale = Scale(temperature, bias)
    assert 0 <= scale(a) <= 1
    assert (scale(a) - scale(b)) * (a - b) >= 0


def test_what_is_scaled_is_the_logit():
    assert Scale()(0.3) == pytest.approx(0.3)
    assert logit(Scale(2.0, 0.5)(0.9)) == pytest.approx(math.log(9) / 2 + 0.5)
    assert Scale(1e-9)(0.6) == 1 and Scale(1e-9)(0.4) == 0
    assert 0 < Scale(3.0)(0.0) < 0.01 and 0.99 < Scale(3.0)(1.0) < 1


def test_a_label_without_a_scale_takes_the_shared_one():
    calibration = Calibration(Scale(2.0), {"PER": Scale(4.0)})
    assert calibration(0.9, "LOC") == Scale(2.0)(0.9) > calibration(0.9, "PER") == Scale(4.0)(0.9)
    assert Calibration.from_json(calibration.to_json()) == calibration


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"shared": {"temperature": 0, "bias": 0}, "labels": {}},
        {"shared": {"temperature": 1, "bias": float("nan")}, "labels": {}},
        {"shared": {"heat": 1}, "labels": {}},
        {"shared": {"temperature": 1, "bias": 0}, "labels": []},
        [],
    ],
)
def test_what_is_no_calibration(values):
    with pytest.raises(ValueError, match="is not a calibration"):
        Calibration.from_json(values)


def test_thresholds():
    assert check_threshold(None) == 0
    assert Confidence(None, 0.5).least("PER") == 0.5
    assert [Confidence(None, check_threshold({"PER": 1})).least(label) for label in ("PER", "LOC")] == [1, 0]
    for threshold in (1.1, -1, "0.5", True, {"PER": None}, float("nan")):
        with pytest.raises(ValueError, match="expected a number from 0 to 1"):
            check_threshold(threshold)


def test_forced_entities_are_certain():
    confidence = Confidence(Calibration(Scale(1.0, -9.0), {}), 0.5)
    entities = [Entity(0, 2, "PER", 0.9), Entity(3, 5, "LOC", 0.1)]
    assert confidence.apply(entities, {(3, 5)}) == [entities[1]]
    assert confidence.score(entities[0]) == Scale(1.0, -9.0)(0.9) and confidence.score(entities[1], {(3, 5)}) == 0.1
