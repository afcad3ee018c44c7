"""Fitting of a temperature and bias for each label to predictions known to be right or wrong."""

import math
from typing import Dict, List, Sequence

import numpy as np

from ..pipeline.ner.calibration import Calibration, Scale, logit
from .confidence import Judged, judge
from .counts import scores as measure_counts
from .errors import Outcome

MIN_EXAMPLES = 30
# Standard deviations of the priors: of a label's slope and bias around the shared ones, and of these around 1 and 0.
# How much labels differ depends on the data, so their spread is chosen by cross-validation.
LABEL_SPREADS, SHARED_SPREAD = (0.03, 0.1, 0.3, 1.0), 2.0
N_INNER = 3  # folds of that cross-validation
MIN_SLOPE = 0.05  # keeps scores increasing with probabilities, even if the examples suggest otherwise
N_STEPS = 50


def fit(predictions: Sequence[Judged], *, min_examples: int = MIN_EXAMPLES) -> Calibration:
    """Fit scales by maximum likelihood with normal priors: first one shared by all labels, then one around it for each
    label with enough examples. The spread around it is chosen by the likelihood of held-out examples.

    predictions (Sequence[Judged]): The predictions, with uncalibrated probabilities.
    min_examples (int): A label with fewer examples gets the shared scale.
    RETURNS (Calibration): The scales. Raises ValueError without predictions.
    """
    if not predictions:
        raise ValueError("There are no predictions with a score to calibrate with.")
    return _fit(predictions, _choose_spread(predictions, min_examples), min_examples)


def cross_fit(
    texts: Sequence[Sequence[Outcome]], *, n_folds: int = 2, seed: int = 0, min_examples: int = MIN_EXAMPLES
) -> List[List[Outcome]]:
    """Score the predictions of every text with scales fitted on other texts.

    texts (Sequence[Sequence[Outcome]]): The outcomes of each text, with uncalibrated probabilities.
    n_folds (int): Number of random folds; each is scored with scales fitted on the others.
    RETURNS (List[List[Outcome]]): The outcomes with calibrated scores. Raises ValueError if a fold has no predictions
        to learn from, or `n_folds` is not between 2 and the number of texts.
    """
    if not 2 <= n_folds <= len(texts):
        raise ValueError(
            f"{len(texts)} texts cannot be divided into {n_folds} parts; expected 2 to {len(texts)} parts."
        )
    folds = np.random.default_rng(seed).permutation(len(texts)) % n_folds
    scored: List[List[Outcome]] = [[] for _ in texts]
    for fold in range(n_folds):
        others = [outcome for i in np.flatnonzero(folds != fold).tolist() for outcome in texts[i]]
        calibration = fit(judge(others), min_examples=min_examples)
        for i in np.flatnonzero(folds == fold).tolist():
            scored[i] = rescore(texts[i], calibration)
    return scored


def rescore(outcomes: Sequence[Outcome], calibration: Calibration) -> List[Outcome]:
    """RETURNS (List[Outcome]): The outcomes with calibrated scores."""
    changed = []
    for outcome in outcomes:
        mark = outcome.predicted
        if mark is not None and mark.score is not None:
            mark = mark._replace(score=calibration(mark.score, mark.label))
        changed.append(outcome._replace(predicted=mark))
    return changed


def best_thresholds(outcomes: Sequence[Outcome], *, min_examples: int = MIN_EXAMPLES) -> Dict[str, float]:
    """Find for each label the threshold with the best F-score, the lowest if several are equally good. The outcomes
    need calibrated scores. A label with fewer than `min_examples` predictions gets 0."""
    judged = judge(outcomes)
    gold_labels = [outcome.gold.label for outcome in outcomes if outcome.gold is not None]
    thresholds = {}
    for label in sorted({each.label for each in judged}):
        own = sorted((each.probability, each.right) for each in judged if each.label == label)
        n_gold, best = gold_labels.count(label), (-1.0, 0.0)
        for i in range(len(own) if len(own) >= min_examples else 0):
            if i and own[i][0] == own[i - 1][0]:
                continue
            found = sum(right for _, right in own[i:])
            f = measure_counts(found, len(own) - i - found, n_gold - found)["f"] or 0.0
            # Halfway between two scores, so that a rounding error cannot move a score across it; 0 drops no prediction.
            best = max(best, (f, -(own[i][0] + own[i - 1][0]) / 2 if i else 0.0))
        thresholds[label] = abs(best[1])
    return thresholds


def _choose_spread(predictions: Sequence[Judged], min_examples: int) -> float:
    """RETURNS (float): The smallest spread whose loss on held-out examples is within a standard error of the best."""
    folds = np.random.default_rng(0).permutation(len(predictions)) % N_INNER
    losses = np.zeros((len(LABEL_SPREADS), len(predictions)))
    for fold in range(N_INNER if len(predictions) >= MIN_EXAMPLES else 0):
        others = [each for each, own in zip(predictions, folds) if own != fold]
        for row, spread in zip(losses, LABEL_SPREADS):
            fitted = _fit(others, spread, min_examples * (N_INNER - 1) // N_INNER)
            for i in np.flatnonzero(folds == fold).tolist():
                label, probability, right = predictions[i]
                score = fitted(probability, label)
                row[i] = -math.log(max(score if right else 1 - score, 1e-12))
    worse = losses - losses[losses.sum(1).argmin()]
    error = worse.std(1) / np.sqrt(len(predictions))
    return LABEL_SPREADS[int(np.argmax(worse.mean(1) <= error))]


def _fit(predictions: Sequence[Judged], spread: float, min_examples: int) -> Calibration:
    shared = _fit_scale(predictions, Scale(), SHARED_SPREAD)
    groups: Dict[str, List[Judged]] = {}
    for each in predictions:
        groups.setdefault(each.label, []).append(each)
    large = {label: own for label, own in sorted(groups.items()) if len(own) >= min_examples}
    return Calibration(shared, {label: _fit_scale(own, shared, spread) for label, own in large.items()})


def _fit_scale(predictions: Sequence[Judged], prior: Scale, spread: float) -> Scale:
    """Fit the slope (1 / temperature) and the bias with Newton's method."""
    x = np.array([[logit(each.probability), 1.0] for each in predictions])
    y = np.array([each.right for each in predictions], dtype="f8")
    center = np.array([1 / prior.temperature, prior.bias])
    w, stiffness = center.copy(), np.eye(2) / spread**2

    def loss(w: np.ndarray) -> float:
        z = x @ w
        return float(np.logaddexp(0, z).sum() - y @ z + (w - center) @ stiffness @ (w - center) / 2)

    for _ in range(N_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -500, 500)))
        gradient = x.T @ (p - y) + stiffness @ (w - center)
        step = np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]) + stiffness, gradient)
        while loss(w - step) > loss(w) and abs(step).max() > 1e-9:
            step = step / 2
        w = w - step
        if abs(step).max() < 1e-9:
            break
    return Scale(float(1 / max(w[0], MIN_SLOPE)), float(w[1]))
