"""Sequences of different lengths in time-major order, for recurrent layers that never compute padding."""

from typing import List, NamedTuple

import numpy as np
from torch import Tensor

from ...tensors.convert import numpy_of, tensor_of


class Packing(NamedTuple):
    """The layout of a ragged batch in time-major order: all first steps, then all second steps, and so on.

    The batch is flat: the rows of its sequences one after the other. Step 0 of direction 0 is a sequence's first row,
    step 0 of direction 1 its last. Sequences come longest first, so that those still running are always the first.
    """

    rows: Tensor  # int64 [2, n_rows]: for each direction and packed row, the row of the flat batch
    inverse: Tensor  # int64 [2, n_rows]: for each direction and row of the flat batch, the packed row
    sizes: List[int]  # number of sequences running at each step, non-increasing
    order: Tensor  # int64 [n_sequences]: the sequences, longest first


def pack(lengths: Tensor) -> Packing:
    """Lay out sequences of the given lengths: int64 [n_sequences], each at least 1. Everything is on the CPU."""
    # In NumPy, because torch would wake its threads for `repeat_interleave` even if the input is short.
    counts = numpy_of(lengths)
    order = np.argsort(-counts, kind="stable")
    ordered = counts[order]
    longest = int(ordered[0]) if len(ordered) else 0
    sizes = len(ordered) - np.searchsorted(ordered[::-1], np.arange(longest), side="right")
    step = np.repeat(np.arange(longest), sizes)
    sequence = order[np.arange(len(step)) - np.repeat(sizes.cumsum() - sizes, sizes)]
    start = (counts.cumsum() - counts)[sequence]
    rows = np.stack([start + step, start + counts[sequence] - 1 - step])
    inverse = np.empty_like(rows)
    inverse[[[0], [1]], rows] = np.arange(len(step))
    return Packing(tensor_of(rows), tensor_of(inverse), sizes.tolist(), tensor_of(order))


def split_steps(sizes: List[int], max_rows: int) -> List[List[int]]:
    """Cut steps, given by their sizes, into blocks of at most `max_rows` rows; a larger step is a block of its own."""
    blocks: List[List[int]] = []
    rows = max_rows
    for size in sizes:
        if rows + size > max_rows:
            blocks.append([])
            rows = 0
        blocks[-1].append(size)
        rows += size
    return blocks
