import math
from itertools import chain

import numpy as np
import pytest

from spacy_lexner.pipeline.ner.calibration import Scale
from spacy_lexner.report.calibrate import best_thresholds, cross_fit, fit, rescore
from spacy_lexner.report.confidence import Judged, chance_error, expected_error, judge
from spacy_lexner.report.errors import CORRECT, MISSED, SPURIOUS, Outcome
from spacy_lexner.visualize.lattice import Mark


def draw(n, scale, label="A", seed=0):
    """Predictions whose probabilities are right once rescaled."""
    random = np.random.default_rng(seed)
    probabilities = 1 / (1 + np.exp(-random.normal(1.0, 3.0, n)))
    return [Judged(label, p, bool(random.random() < scale(p))) for p in probabilities.tolist()]


def fits(scale, expected, *errors):
    """Within 4 standard errors of the temperature and of the bias, which are those over 40 seeds."""
    return all(abs(a - b) <= 4 * error for a, b, error in zip(scale, expected, errors))


def outcomes(predictions):
    """One text for every five predictions."""
    marks = [Mark(i, i + 1, each.label, each.probability) for i, each in enumerate(predictions)]
    each = [Outcome(CORRECT if p.right else SPURIOUS, m if p.right else None, m) for p, m in zip(predictions, marks)]
    return [each[i : i + 5] for i in range(0, len(each), 5)]


def test_finds_the_temperature_and_the_bias():
    calibration = fit(draw(6000, Scale(3.0, -0.5)))
    for scale in (calibration.shared, calibration.labels["A"]):
        assert fits(scale, Scale(3.0, -0.5), 0.13, 0.035)


def test_labels_have_scales_of_their_own_if_there_are_enough_examples():
    predictions = draw(3000, Scale(1.0), "A") + draw(3000, Scale(4.0, 1.0), "B", seed=1) + draw(29, Scale(4.0), "C")
    calibration = fit(predictions)
    assert fits(calibration.labels["A"], Scale(1.0), 0.041, 0.059)
    assert fits(calibration.labels["B"], Scale(4.0, 1.0), 0.29, 0.036)
    assert set(calibration.labels) == {"A", "B"}
    assert set(fit(predictions, min_examples=29).labels) == {"A", "B", "C"}


@pytest.mark.parametrize(
    "predictions",
    [
        [Judged("A", 1.0, True)],
        [Judged("A", 1.0, False)] * 40,
        [Judged("A", p, p < 0.5) for p in np.linspace(0, 1, 41).tolist()],  # the more certain, the more often wrong
        [Judged("A", p, p > 0.5) for p in np.linspace(0, 1, 41).tolist()],
        [Judged("A", 0.7, True), Judged("B", 0.7, False)] * 40,
    ],
)
def test_whatever_the_examples_scores_stay_finite_and_rise_with_probabilities(predictions):
    calibration = fit(predictions, min_examples=1)
    for label in ("A", "B"):
        scores = [calibration(p, label) for p in np.linspace(0, 1, 101).tolist()]
        assert sorted(scores) == scores and 0 <= scores[0] < scores[-1] <= 1


def test_labels_that_do_not_differ_keep_together():
    """If labels are alike, small differences between their examples are chance."""
    alike = fit([each for i in range(8) for each in draw(60, Scale(3.0, -0.5), str(i), seed=i)])
    temperatures = [scale.temperature for scale in alike.labels.values()]
    assert len(temperatures) == 8 and max(temperatures) - min(temperatures) < 0.5


def test_nothing_to_learn_from():
    with pytest.raises(ValueError, match="no predictions with a score"):
        fit([])
    with pytest.raises(ValueError, match="2 texts cannot be divided into 3 parts"):
        cross_fit([[], []], n_folds=3)
    with pytest.raises(ValueError, match="no predictions with a score"):
        cross_fit([*outcomes([Judged("A", 0.5, True)] * 5), []])


def test_texts_are_scored_with_what_others_teach():
    texts = outcomes(draw(4000, Scale(3.0, -0.5)))
    before, after = (judge(chain.from_iterable(each)) for each in (texts, cross_fit(texts)))
    assert expected_error(before) > 0.1
    assert expected_error(after) < 0.03
    assert [each.right for each in before] == [each.right for each in after]
    # The scores of a text do not depend on what is right in it.
    changed = [[outcome._replace(kind=SPURIOUS, gold=None) for outcome in texts[0]], *texts[1:]]
    assert judge(cross_fit(changed)[0]) != judge(texts[0])
    assert [each.probability for each in judge(cross_fit(changed)[0])] == [each.probability for each in after[:5]]


def test_what_chance_shows():
    predictions = draw(5000, Scale())
    few = predictions[:50]
    assert chance_error(predictions) == pytest.approx(expected_error(predictions), abs=4 * 0.0033)  # over 40 seeds
    assert chance_error(few) > 2 * chance_error(predictions)
    assert chance_error([]) == expected_error([]) == 0


def test_missed_entities_and_predictions_without_a_score_stay_as_they_are():
    missed = Outcome(MISSED, Mark(0, 1, "A"), None)
    bare = Outcome(SPURIOUS, None, Mark(0, 1, "A"))
    scored = Outcome(SPURIOUS, None, Mark(0, 1, "A", 0.9))
    calibration = fit(draw(100, Scale(3.0)))
    changed = rescore([missed, bare, scored], calibration)
    assert changed[:2] == [missed, bare]
    assert changed[2].predicted.score == calibration(0.9, "A")
    assert judge([missed, bare, scored]) == [Judged("A", 0.9, False)]


def f_score(found, threshold):
    kept = [each for each in found if each.predicted is not None and each.predicted.score >= threshold]
    right = sum(each.kind == CORRECT for each in kept)
    n_gold = sum(each.gold is not None for each in found)
    return 2 * right / (len(kept) + n_gold)


def test_thresholds_have_the_best_f_score():
    found = [outcome for text in outcomes(draw(300, Scale(1.5, -1.0))) for outcome in text]
    thresholds = best_thresholds(found)
    best = max(f_score(found, t) for t in np.linspace(0, 1, 2001))
    assert f_score(found, thresholds["A"]) == pytest.approx(best) and 0 < thresholds["A"] < 1
    assert best_thresholds(found[:29]) == {"A": 0.0}
    right = [Outcome(CORRECT, Mark(0, 1, "A"), Mark(0, 1, "A", score)) for score in np.linspace(0, 1, 40).tolist()]
    assert best_thresholds(right) == {"A": 0.0} and math.copysign(1, best_thresholds(right)["A"]) == 1


def test_thresholds_between_scores_near_one():
    low = [Outcome(SPURIOUS, None, Mark(0, 1, "A", 0.9999996))] * 40
    high = [Outcome(CORRECT, Mark(0, 1, "A"), Mark(0, 1, "A", 0.9999998))] * 40
    assert 0.9999996 < best_thresholds([*low, *high])["A"] < 0.9999998
