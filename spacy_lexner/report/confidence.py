"""Reliability of confidences: how often predictions of the same confidence are right (Guo et al. 2017)."""

from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence

import numpy as np

from .errors import CORRECT, Outcome

N_BINS = 10


class Judged(NamedTuple):
    """A prediction with its score, and whether it is right."""

    label: str
    probability: float
    right: bool


def judge(outcomes: Iterable[Outcome]) -> List[Judged]:
    """RETURNS (List[Judged]): The predictions that have a score."""
    return [
        Judged(outcome.predicted.label, outcome.predicted.score, outcome.kind == CORRECT)
        for outcome in outcomes
        if outcome.predicted is not None and outcome.predicted.score is not None
    ]


def measure_confidence(outcomes: Iterable[Outcome], n_bins: int = N_BINS) -> Optional[Dict[str, Any]]:
    """Compare the scores of predictions with their precision, in `n_bins` bins of equal width.

    RETURNS (Optional[Dict[str, Any]]): `n`, the number of predictions with a score; `ece`, the expected calibration
        error: |score - precision| of each bin, averaged over the predictions; `bins`, each with `low`, `high`, `right`,
        `wrong`, `mean_score` and `precision` (None if it is empty). None if no prediction has a score.
    """
    judged = judge(outcomes)
    if not judged:
        return None
    scores, right = _columns(judged)
    n, n_right, total = _sum_bins(scores, right, n_bins)
    bins = [
        {
            "low": i / n_bins,
            "high": (i + 1) / n_bins,
            "right": int(n_right[i]),
            "wrong": int(n[i] - n_right[i]),
            "mean_score": float(total[i] / n[i]) if n[i] else None,
            "precision": float(n_right[i] / n[i]) if n[i] else None,
        }
        for i in range(n_bins)
    ]
    return {"n": len(judged), "ece": _calibration_error(scores, right, n_bins), "bins": bins}


def expected_error(predictions: Sequence[Judged]) -> float:
    """RETURNS (float): The expected calibration error, see `measure_confidence`; 0 without predictions."""
    scores, right = _columns(predictions)
    return _calibration_error(scores, right)


def chance_error(predictions: Sequence[Judged], *, n_draws: int = 200, seed: int = 0) -> float:
    """RETURNS (float): The mean calibration error that perfect scores would show by chance, with this number of
    predictions."""
    random, (scores, _) = np.random.default_rng(seed), _columns(predictions)
    return float(np.mean([_calibration_error(scores, random.random(len(scores)) < scores) for _ in range(n_draws)]))


def _columns(predictions: Sequence[Judged]) -> List[np.ndarray]:
    return [np.array([each[i] for each in predictions], "f8") for i in (1, 2)]


def _calibration_error(scores: np.ndarray, right: np.ndarray, n_bins: int = N_BINS) -> float:
    _, n_right, total = _sum_bins(scores, right, n_bins)
    return float(np.abs(n_right - total).sum() / max(1, len(scores)))


def _sum_bins(scores: np.ndarray, right: np.ndarray, n_bins: int) -> List[np.ndarray]:
    """RETURNS (List[numpy.ndarray]): For each bin the number of scores, of right predictions, and the sum of scores."""
    place = np.clip((scores * n_bins).astype("i8"), 0, n_bins - 1)
    return [np.bincount(place, weights, n_bins) for weights in (None, right, scores)]
