"""One direction of the clipped LSTM where nothing is trained, on a CPU."""

from typing import List, Optional, Tuple

import torch
from torch import Tensor

from ..shared.packing import split_steps
from . import onednn
from .recurrent_steps import compiled_steps
from .repeated_product import Layouts

# Of the steps that have their input products at once. With many more the gates would be in no cache when a step needs
# them.
BLOCK_ROWS = 128


def predict_direction(
    x: Tensor,
    hidden: Tensor,
    cell: Tensor,
    input_weight: Tensor,
    recurrent_weight: Tensor,
    bias: Tensor,
    projection: Tensor,
    *,
    sizes: List[int],
    clips: Tuple[Optional[float], Optional[float]],
    layouts: Layouts,
    outputs: Tensor,
    cells: Tensor,
) -> None:
    """Run all steps of one direction. No gate outlives its block of steps.

    x, hidden, cell, input_weight, recurrent_weight, bias, projection (Tensor): As in ClippedLSTM, without the dimension
        of directions.
    sizes (List[int]): How many sequences run at each step, never growing.
    clips (Tuple[Optional[float], Optional[float]]): Largest absolute value in a cell, and of an output.
    layouts (Layouts): Of this direction.
    outputs (Tensor): Is filled, shape [n_rows, projection_dim].
    cells (Tensor): Is filled, shape [n_rows, cell_dim].
    """
    n_rows = len(x)
    often, rows_at_once = len(sizes), -(-n_rows // len(sizes))
    recurrent = layouts.lay_out("recurrent", recurrent_weight, often, rows_at_once)
    projection = layouts.lay_out("projection", projection, often, rows_at_once)
    by_onednn = onednn.is_available(input_weight) and onednn.is_faster(input_weight, min(n_rows, BLOCK_ROWS))
    if by_onednn:
        input_weight = layouts.pack("input", input_weight)
    run_steps = compiled_steps()
    start = 0
    for block in split_steps(sizes, BLOCK_ROWS):
        rows = slice(start, start + sum(block))
        if by_onednn:
            gates = onednn.linear(x[rows], input_weight, bias)
        else:
            gates = torch.addmm(bias, x[rows], input_weight.mT)
        run_steps(gates, hidden, cell, recurrent, projection, block, *clips, outputs[rows], cells[rows])
        start = rows.stop
        hidden, cell = outputs[start - block[-1] : start], cells[start - block[-1] : start]
