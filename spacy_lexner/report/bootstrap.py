"""Bootstrap intervals for the dependence of scores on the choice of test texts (Efron 1979; Koehn 2004 for
differences)."""

from typing import Dict, List, Optional, Tuple

import numpy as np

from .counts import Counts

N_SAMPLES = 1000
INTERVAL = (2.5, 97.5)  # percentiles: 95 of 100 samples lie between them
CHUNK = 100
SpreadT = Dict[str, Optional[List[float]]]


def resample(counts: Counts, n_samples: int = N_SAMPLES, seed: int = 0) -> np.ndarray:
    """Score test sets of the same size, drawn from the texts with replacement. With the same texts and seed, all models
    get the same test sets.

    RETURNS (numpy.ndarray): float64[n_samples, n_columns, 3], precision, recall and F-score; NaN for a division by
        zero.
    """
    n_texts, n_columns, _ = counts.values.shape
    generator = np.random.default_rng(seed)
    flat = counts.values.reshape(n_texts, -1).astype("f8")
    totals = np.concatenate(
        [
            generator.multinomial(n_texts, np.full(n_texts, 1 / n_texts), min(CHUNK, n_samples - low)) @ flat
            for low in range(0, n_samples, CHUNK)
        ]
    )
    found, wrong, missed = np.moveaxis(totals.reshape(n_samples, n_columns, 3), 2, 0)
    with np.errstate(invalid="ignore"):
        return np.stack(
            [found / (found + wrong), found / (found + missed), 2 * found / (2 * found + wrong + missed)], axis=2
        )


def spread(samples: np.ndarray, column: int) -> SpreadT:
    """RETURNS (SpreadT): The 95 % intervals of `p`, `r` and `f` in a column of `resample`."""
    return {name: interval(samples[:, column, i]) for i, name in enumerate("prf")}


def difference(samples: np.ndarray, others: np.ndarray) -> Tuple[Optional[List[float]], Optional[float]]:
    """Compare the F-scores of two models, over all labels, on the same resampled test sets.
    RETURNS (Tuple[Optional[List[float]], Optional[float]]): The 95 % interval of the first minus the second, and the
        share of test sets in which the first is higher (a tie counts half).
    """
    differences = samples[:, 0, 2] - others[:, 0, 2]
    valid = differences[~np.isnan(differences)]
    return interval(differences), None if not len(valid) else float((valid > 0).mean() + (valid == 0).mean() / 2)


def interval(values: np.ndarray) -> Optional[List[float]]:
    """RETURNS (Optional[List[float]]): The percentiles INTERVAL of the values that are not NaN; None if all are."""
    valid = values[~np.isnan(values)]
    return np.percentile(valid, INTERVAL).tolist() if len(valid) else None
