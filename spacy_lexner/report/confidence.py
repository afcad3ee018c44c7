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
    place = np.clip((scores * n_bins).astype("i8"), 0, n_bins - 1)
    n, n_right, total = (np.bincount(place, weights, n_bins) for weights in (None, right, scores))
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
    return {"n": len(scored), "ece": float(np.abs(n_right - total).sum() / len(scored)), "bins": bins}
