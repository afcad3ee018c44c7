"""Batches of sequences by their padded size."""

from typing import List

import numpy as np


def batch_by_padding(lengths: np.ndarray, max_tokens: int) -> List[np.ndarray]:
    """Put sequences of similar length together, so that a batch padded to its longest is no larger than a budget.

    lengths (numpy.ndarray): int[n], the lengths.
    max_tokens (int): The most tokens of a padded batch. A longer sequence is a batch by itself.
    RETURNS (List[numpy.ndarray]): The batches, as indices of sequences; the longest come first, so that memory runs out
        at once if it must.
    """
    order = np.argsort(-np.asarray(lengths), kind="stable")
    batches, begin = [], 0
    while begin < len(order):
        size = max(1, max_tokens // max(1, int(lengths[order[begin]])))
        batches.append(order[begin : begin + size])
        begin += size
    return batches
