"""Whether confidences mean what they say: how often the predictions of one confidence are right (Guo et al. 2017)."""

from typing import Any, Dict, Iterable, List, Optional

import numpy as np

from .errors import CORRECT, Outcome

N_BINS = 10


def measure_confidence(outcomes: Iterable[Outcome], n_bins: int = N_BINS) -> Optional[Dict[str, Any]]:
    """Compare the scores of predictions with how often they are right.

    outcomes (Iterable[Outcome]): The outcomes.
    n_bins (int): Into how many parts of equal width the scores are divided.
    RETURNS (Optional[Dict[str, Any]]): `n`, the predictions with a score; `ece`, the expected calibration error: by how
        much score and share of right ones differ, in the mean over the predictions; `bins`, each with `low`, `high`,
        `right`, `wrong`, `mean_score` and `precision` (None if it is empty). None if no prediction has a score.
    """
    scored = [
        (outcome.predicted.score, outcome.kind == CORRECT)
        for outcome in outcomes
        if outcome.predicted is not None and outcome.predicted.score is not None
    ]
    if not scored:
        return None
    scores, right = (np.array(column, "f8") for column in zip(*scored))
    n, n_right, total = _sum_bins(scores, right, n_bins)
    bins: List[Dict[str, Any]] = [
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
    return {"n": len(scored), "ece": calibration_error(scores, right, n_bins), "bins": bins}


def calibration_error(scores: np.ndarray, right: np.ndarray, n_bins: int = N_BINS) -> float:
    """RETURNS (float): The expected calibration error of scores, float64[n], given which are right, as 1 or 0."""
    _, n_right, total = _sum_bins(scores, right, n_bins)
    return float(np.abs(n_right - total).sum() / max(1, len(scores)))


def chance_error(scores: np.ndarray, n_bins: int = N_BINS, *, n_draws: int = 200, seed: int = 0) -> float:
    """Say what error so few examples would show by chance, if every score were exactly right.

    scores (numpy.ndarray): float64[n].
    n_bins (int): As in `measure_confidence`.
    n_draws (int): How often chance is tried.
    seed (int): Its seed.
    RETURNS (float): The mean error.
    """
    random = np.random.default_rng(seed)
    return float(
        np.mean([calibration_error(scores, random.random(len(scores)) < scores, n_bins) for _ in range(n_draws)])
    )


def _sum_bins(scores: np.ndarray, right: np.ndarray, n_bins: int) -> List[np.ndarray]:
    """RETURNS (List[numpy.ndarray]): For each bin the number of scores, of right ones, and the sum of scores."""
    place = np.clip((scores * n_bins).astype("i8"), 0, n_bins - 1)
    return [np.bincount(place, weights, n_bins) for weights in (None, right, scores)]
