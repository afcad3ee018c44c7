"""The projected LSTM with clipped cells and outputs (Jozefowicz et al. 2016): the layer of ELMo."""

from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from .projected_lstm import LSTMState, initialize_weights, stack_states
from .recurrent_prediction import predict_direction
from .recurrent_steps import compiled_steps, run_steps
from .repeated_product import Layouts, hold, lay_out


class ClippedLSTM(nn.Module):
    """One layer in two directions that have their own input, weights and state. For each direction and step,

        i, f, g, o = W_x x + W_h h + b      c = clip(sigmoid(f) * c + sigmoid(i) * tanh(g))
        h = clip(W_p (sigmoid(o) * tanh(c)))

    The products W_x x of all steps are one multiplication, and so is the gradient of every weight. The steps themselves
    are `run_steps`.

    input_dim (int): Width of the input.
    cell_dim (int): Width of the memory cell.
    projection_dim (int): Width of the output.
    cell_clip (Optional[float]): Largest absolute value in a cell.
    projection_clip (Optional[float]): Largest absolute value of an output.
    """

    def __init__(
        self,
        input_dim: int,
        cell_dim: int,
        projection_dim: int,
        cell_clip: Optional[float] = None,
        projection_clip: Optional[float] = None,
    ):
        super().__init__()
        self.clips = (cell_clip, projection_clip)
        self.input_weight = nn.Parameter(torch.empty(2, 4 * cell_dim, input_dim))
        self.recurrent_weight = nn.Parameter(torch.empty(2, 4 * cell_dim, projection_dim))
        self.bias = nn.Parameter(torch.empty(2, 4 * cell_dim))
        self.projection = nn.Parameter(torch.empty(2, projection_dim, cell_dim))
        initialize_weights(self.input_weight, self.recurrent_weight, self.bias, self.projection)
        self.layouts = (Layouts(), Layouts())
        for weight in (self.input_weight, self.recurrent_weight, self.projection):
            weight.data = hold(weight.data)

    def set_direction(
        self, direction: int, input_: Tensor, recurrent: Tensor, bias: Tensor, projection: Tensor
    ) -> None:
        """Put given weights into one direction: see ProjectedLSTM."""
        with torch.no_grad():
            self.input_weight[direction].copy_(input_)
            self.recurrent_weight[direction].copy_(recurrent)
            self.bias[direction].copy_(bias)
            self.projection[direction].copy_(projection)

    def forward(self, x: Tensor, sizes: List[int], state: LSTMState) -> Tuple[Tensor, LSTMState]:
        """x (Tensor): Inputs in time-major order, shape [2, n_rows, input_dim].
        sizes (List[int]): How many sequences run at each step, never growing.
        state (LSTMState): State before the first step, of all sequences; those that run are the first ones.
        RETURNS (Tuple[Tensor, LSTMState]): Outputs [2, n_rows, projection_dim], and the state of each sequence after
            its last step.
        """
        # Errors of half precision would add up from step to step.
        with torch.autocast(x.device.type, enabled=False):
            if x.device.type == "cpu" and not torch.is_grad_enabled():
                parts = [self.predict(d, x[d], sizes, LSTMState(state.hidden[d], state.cell[d])) for d in (0, 1)]
                rows = stack_states(*parts)
            else:
                inputs = (values.to(self.bias.dtype) for values in (x, *(values[:, : sizes[0]] for values in state)))
                weights = (self.input_weight, self.recurrent_weight, self.bias, self.projection)
                rows = LSTMState(*_Recurrence.apply(*inputs, *weights, sizes, self.clips))
        return rows.hidden, state_after(rows, sizes, state)

    def predict(self, direction: int, x: Tensor, sizes: List[int], state: LSTMState) -> LSTMState:
        """One direction where nothing is trained, on a CPU. A core's cache holds the weights of one at best.

        direction (int): 0 or 1.
        x (Tensor): As in `forward`, shape [n_rows, input_dim].
        sizes (List[int]): As in `forward`.
        state (LSTMState): As in `forward`, shapes [n_sequences, projection_dim] and [n_sequences, cell_dim].
        RETURNS (LSTMState): Outputs [n_rows, projection_dim] and cells [n_rows, cell_dim] of all rows.
        """
        inputs = (values.to(self.bias.dtype) for values in (x, *(values[: sizes[0]] for values in state)))
        weights = (self.input_weight, self.recurrent_weight, self.bias, self.projection)
        rows = LSTMState(*(self.bias.new_empty(len(x), values.shape[1]) for values in state))
        predict_direction(
            *inputs,
            *(weight[direction] for weight in weights),
            sizes=sizes,
            clips=self.clips,
            layouts=self.layouts[direction],
            outputs=rows.hidden,
            cells=rows.cell,
        )
        return rows


def state_after(rows: LSTMState, sizes: List[int], before: LSTMState) -> LSTMState:
    """rows (LSTMState): Outputs and cells of all rows, in time-major order.
    sizes (List[int]): How many sequences run at each step, never growing.
    before (LSTMState): State before the first step, of all sequences.
    RETURNS (LSTMState): State of each sequence after its last step.
    """
    last = torch.tensor(_last_rows(sizes), device=rows.hidden.device)
    hidden, cell = (
        torch.cat([values[..., last, :], earlier[..., sizes[0] :, :]], dim=-2) for values, earlier in zip(rows, before)
    )
    return LSTMState(hidden, cell)


class _Recurrence(torch.autograd.Function):
    """All steps of the layer, with a backward pass written out: autograd would record a dozen small operations a step,
    and add up the gradient of every weight step by step."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        hidden: Tensor,
        cell: Tensor,
        input_weight: Tensor,
        recurrent_weight: Tensor,
        bias: Tensor,
        projection: Tensor,
        sizes: List[int],
        clips: Tuple[Optional[float], Optional[float]],
    ) -> Tuple[Tensor, Tensor]:
        n_rows, n_cells = x.shape[1], cell.shape[2]
        gates = x.new_empty(2, n_rows, 4 * n_cells)
        outputs = x.new_empty(2, n_rows, projection.shape[1])
        cells = x.new_empty(2, n_rows, n_cells)
        # A core's cache holds the weights of one direction at best, and Python between its calls costs time. A GPU
        # takes both directions at once, and calls are queued ahead of it.
        on_cpu = x.device.type == "cpu"
        run: Callable[..., None] = compiled_steps() if on_cpu else run_steps
        add_product: Callable[..., Tensor] = torch.addmm if on_cpu else torch.baddbmm
        parts: Sequence[Union[int, slice]] = (0, 1) if on_cpu else (slice(None),)
        for part in parts:
            add_product(bias[part].unsqueeze(-2), x[part], input_weight[part].mT, out=gates[part])
            weights = (lay_out(weight[part], len(sizes)) for weight in (recurrent_weight, projection))
            run(gates[part], hidden[part], cell[part], *weights, sizes, *clips, outputs[part], cells[part])
        gates[..., 2 * n_cells : 3 * n_cells].mul_(-2).add_(1)  # g from its sigmoid
        ctx.sizes, ctx.clips = sizes, clips
        ctx.save_for_backward(x, input_weight, recurrent_weight, projection, hidden, cell, gates, outputs, cells)
        return outputs, cells

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_outputs: Tensor, d_cells: Tensor) -> Any:  # type: ignore[override]
        x, input_weight, recurrent_weight, projection, hidden, cell, gates, outputs, cells = ctx.saved_tensors
        before = _rows_before(ctx.sizes).to(x.device)
        h_before = torch.cat([hidden, outputs], dim=1)[:, before]
        c_before = torch.cat([cell, cells], dim=1)[:, before]
        i, f, g, o = gates.chunk(4, dim=2)
        tanh_c = cells.tanh()
        # A clipped value passes no gradient on.
        open_c, open_h = (
            torch.ones_like(values, dtype=torch.bool) if clip is None else values.abs() < clip
            for values, clip in zip((cells, outputs), ctx.clips)
        )
        # What each pre-activation gains per unit of gradient of the cell (i, f, g) or of the projection's input (o).
        slopes = torch.cat([g * i * (1 - i), c_before * f * (1 - f), i * (1 - g * g), tanh_c * o * (1 - o)], dim=2)
        through = o * (1 - tanh_c * tanh_c)
        d_gates = torch.empty_like(gates)
        d_projected = torch.empty_like(outputs)
        d_h, d_c = torch.zeros_like(hidden), torch.zeros_like(cell)
        n_cells = cell.shape[2]
        end = x.shape[1]
        for running in reversed(ctx.sizes):
            rows = slice(end - running, end)
            end -= running
            d_p = torch.mul(d_outputs[:, rows] + d_h[:, :running], open_h[:, rows], out=d_projected[:, rows])
            d_m = torch.bmm(d_p, projection)
            d_cell = d_m * through[:, rows] + d_cells[:, rows] + d_c[:, :running]
            d_cell *= open_c[:, rows]
            d_gate, slope = d_gates[:, rows], slopes[:, rows]
            torch.mul(d_cell.repeat(1, 1, 3), slope[..., : 3 * n_cells], out=d_gate[..., : 3 * n_cells])
            torch.mul(d_m, slope[..., 3 * n_cells :], out=d_gate[..., 3 * n_cells :])
            d_c[:, :running] = d_cell * f[:, rows]
            d_h[:, :running] = torch.bmm(d_gate, recurrent_weight)
        d_gates_t = d_gates.transpose(1, 2)
        return (
            torch.bmm(d_gates, input_weight) if ctx.needs_input_grad[0] else None,
            d_h,
            d_c,
            torch.bmm(d_gates_t, x),
            torch.bmm(d_gates_t, h_before),
            d_gates.sum(dim=1),
            torch.bmm(d_projected.transpose(1, 2), tanh_c.mul_(o)),
            None,
            None,
        )


def _rows_before(sizes: List[int]) -> Tensor:
    """For each row of a layout, the row of the step before it, in an array that begins with the rows of the initial
    state."""
    counts = torch.tensor(sizes)
    earlier = torch.cat([counts[:1], counts[:-1]])
    return torch.arange(int(counts.sum())) + counts[0] - torch.repeat_interleave(earlier, counts)


def _last_rows(sizes: List[int]) -> List[int]:
    """For each running sequence, the row of its last step."""
    rows: List[int] = []
    start = sum(sizes)
    for running in reversed(sizes):
        start -= running
        rows.extend(range(start + len(rows), start + running))
    return rows
