"""The steps of a projected LSTM whose cells and outputs are clipped, one after the other."""

import warnings
from functools import cache
from typing import Any, Callable, List, Optional

import torch
from torch import Tensor

from .repeated_product import product


def run_steps(
    gates: Tensor,
    hidden: Tensor,
    cell: Tensor,
    recurrent: Tensor,
    projection: Tensor,
    sizes: List[int],
    cell_clip: Optional[float],
    projection_clip: Optional[float],
    outputs: Tensor,
    cells: Tensor,
) -> None:
    """Run all steps in time-major order: of one direction, or of several side by side, with a dimension before all.

    gates (Tensor): W_x x + b of all rows, shape [n_rows, 4 * cell_dim]. It is replaced by sigmoids: the gates i, f and
        o, and s where g is 1 - 2 s.
    hidden (Tensor): State before the first step, shape [n_running, projection_dim].
    cell (Tensor): Likewise, shape [n_running, cell_dim].
    recurrent (Tensor): W_h, from `lay_out`.
    projection (Tensor): W_p, from `lay_out`.
    sizes (List[int]): How many sequences run at each step, never growing.
    cell_clip (Optional[float]): Largest absolute value in a cell.
    projection_clip (Optional[float]): Largest absolute value of an output.
    outputs (Tensor): Is filled, shape [n_rows, projection_dim].
    cells (Tensor): Is filled, shape [n_rows, cell_dim].
    """
    # Few rows run at a step: a call costs more than what it computes, so there are few of them. And tanh costs several
    # sigmoids on some processors: tanh(x) = 1 - 2 sigmoid(-2 x). So -2 c is what goes from step to step.
    i, f, g, o = [part.split(sizes, -2) for part in gates.chunk(4, dim=-1)]
    gate, h, c = gates.split(sizes, -2), outputs.split(sizes, -2), cells.split(sizes, -2)
    add_in_place = gates.dim() == 2 and not recurrent.is_mkldnn
    project_in_place = gates.dim() == 2 and not projection.is_mkldnn
    cell = cell * -2
    for step, running in enumerate(sizes):
        if hidden.shape[-2] > running:
            hidden, cell = hidden.narrow(-2, 0, running), cell.narrow(-2, 0, running)
        if add_in_place:
            gate[step].addmm_(hidden, recurrent)
        else:
            gate[step].add_(product(hidden, recurrent))
        g[step].mul_(-2)
        gate[step].sigmoid_()
        cell = torch.mul(f[step], cell, out=c[step]).sub_(i[step], alpha=2).addcmul_(i[step], g[step], value=4)
        if cell_clip is not None:
            cell.clamp_(-2 * cell_clip, 2 * cell_clip)
        exposed = torch.addcmul(o[step], cell.sigmoid(), o[step], value=-2)
        if project_in_place:
            hidden = torch.mm(exposed, projection, out=h[step])
        else:
            hidden = product(exposed, projection)
        if projection_clip is not None:
            hidden = torch.clamp(hidden, -projection_clip, projection_clip, out=h[step])
        elif not project_in_place:
            h[step].copy_(hidden)
    cells.mul_(-0.5)


@cache
def compiled_steps() -> Callable[..., None]:
    """RETURNS (Callable): `run_steps` without Python between its calls, on one core in about two thirds of the time; or
    `run_steps` itself where there is no TorchScript, which torch may drop one day, or no source code, as in a frozen
    application.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            compiled: Any = torch.jit.script(run_steps)
        except (AttributeError, OSError, RuntimeError):
            return run_steps
    return compiled
