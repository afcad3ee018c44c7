"""Runs of consecutive tokens."""

from typing import List, Tuple

import numpy as np


def find_runs(mask: np.ndarray) -> List[Tuple[int, int]]:
    """RETURNS (List[Tuple[int, int]]): First token and end (exclusive) of each run of True in bool[n_tokens]."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype("i1"))).tolist()
    return list(zip(edges[::2], edges[1::2]))
