"""LSTM layers whose hidden state is a projection of the cell (Sak et al. 2014): torch's own, and one with clipping.

A layer has two directions, each with its own input, weights and state. Its rows are in time-major order: the rows of
the first step, then those of the second, and so on (see `Packing`).
"""

from math import sqrt
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence


class LSTMState(NamedTuple):
    """The state that a layer carries from step to step."""

    hidden: Tensor  # projected outputs, shape [2, n_sequences, projection_dim]
    cell: Tensor  # memory cells, shape [2, n_sequences, cell_dim]


class ClippedLSTM(nn.Module):
    """A layer that clips its cells and outputs (Jozefowicz et al. 2016). For each direction and step,

        i, f, g, o = W_x x + W_h h + b      c = clip(sigmoid(f) * c + sigmoid(i) * tanh(g))
        h = clip(W_p (sigmoid(o) * tanh(c)))

    The cell c is `cell_dim` wide, the output h `projection_dim`. Their largest absolute values are `cell_clip` and
    `projection_clip`; None or 0 for no clipping.
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
        self.cell_clip, self.projection_clip = cell_clip, projection_clip
        self.input_weight = nn.Parameter(torch.empty(2, 4 * cell_dim, input_dim))
        self.recurrent_weight = nn.Parameter(torch.empty(2, 4 * cell_dim, projection_dim))
        self.bias = nn.Parameter(torch.empty(2, 4 * cell_dim))
        self.projection = nn.Parameter(torch.empty(2, projection_dim, cell_dim))
        initialize_weights(self.input_weight, self.recurrent_weight, self.bias, self.projection)

    def forward(self, x: Tensor, sizes: List[int], state: LSTMState) -> Tuple[Tensor, LSTMState]:
        """Run all steps.

        x (Tensor): Inputs [2, n_rows, input_dim].
        sizes (List[int]): Number of sequences running at each step, non-increasing; the running ones come first.
        state (LSTMState): State of all sequences before the first step.
        RETURNS (Tuple[Tensor, LSTMState]): Outputs [2, n_rows, projection_dim], and each sequence's state after its
            last step.
        """
        # In half precision, errors would accumulate from step to step.
        with torch.autocast(x.device.type, enabled=False):
            x, hidden, cell = (values.to(self.bias.dtype) for values in (x, *state))
            recurrent, projection = self.recurrent_weight.mT, self.projection.mT
            outputs, ended = [], []
            # The product with the input does not depend on previous steps: one multiplication serves them all.
            for gates in torch.baddbmm(self.bias[:, None], x, self.input_weight.mT).split(sizes, dim=1):
                running = gates.shape[1]
                if running < hidden.shape[1]:
                    ended.append((hidden[:, running:], cell[:, running:]))
                    hidden, cell = hidden[:, :running], cell[:, :running]
                i, f, g, o = torch.baddbmm(gates, hidden, recurrent).chunk(4, dim=2)
                cell = _clip(f.sigmoid() * cell + i.sigmoid() * g.tanh(), self.cell_clip)
                hidden = _clip((o.sigmoid() * cell.tanh()) @ projection, self.projection_clip)
                outputs.append(hidden)
            ended.append((hidden, cell))
            final = LSTMState(*(torch.cat(parts[::-1], dim=1) for parts in zip(*ended)))
            return torch.cat(outputs, dim=1), final


class ProjectedLSTM(nn.Module):
    """A layer without clipping: torch's own LSTM for each direction. `projection_dim` must be less than `cell_dim`."""

    def __init__(self, input_dim: int, cell_dim: int, projection_dim: int):
        super().__init__()
        self.directions = nn.ModuleList(nn.LSTM(input_dim, cell_dim, proj_size=projection_dim) for _ in range(2))
        for lstm in self.directions:
            weights = dict(lstm.named_parameters())
            initialize_weights(*(weights[f"{name}_l0"] for name in ("weight_ih", "weight_hh", "bias_hh", "weight_hr")))
            nn.init.zeros_(weights["bias_ih_l0"])

    def load_clipped(self, weights: Dict[str, Tensor]) -> None:
        """Load the state dict of a `ClippedLSTM` of the same widths."""
        for direction, lstm in enumerate(self.directions):
            bias = weights["bias"][direction]
            lstm.load_state_dict(
                {
                    "weight_ih_l0": weights["input_weight"][direction],
                    "weight_hh_l0": weights["recurrent_weight"][direction],
                    "weight_hr_l0": weights["projection"][direction],
                    "bias_ih_l0": torch.zeros_like(bias),
                    "bias_hh_l0": bias,
                }
            )

    def forward(self, x: Tensor, sizes: List[int], state: LSTMState) -> Tuple[Tensor, LSTMState]:
        """See `ClippedLSTM.forward`."""
        running = sizes[0]
        outputs, hiddens, cells = [], [], []
        for lstm, rows, hidden, cell in zip(self.directions, x, *state):
            assert isinstance(lstm, nn.LSTM)
            if rows.is_cuda:
                lstm.flatten_parameters()
            initial = (hidden[None, :running].contiguous(), cell[None, :running].contiguous())
            output, (last_hidden, last_cell) = lstm(PackedSequence(rows, torch.tensor(sizes)), initial)
            outputs.append(output.data)
            hiddens.append(torch.cat([last_hidden[0], hidden[running:]]))
            cells.append(torch.cat([last_cell[0], cell[running:]]))
        return torch.stack(outputs), LSTMState(torch.stack(hiddens), torch.stack(cells))


def initialize_weights(input_weight: Tensor, recurrent_weight: Tensor, bias: Tensor, projection: Tensor) -> None:
    """Draw weights as the original biLM trainer does, in place: Glorot over input and state joined, forget bias 1."""
    gates, inputs = input_weight.shape[-2:]
    outputs, cell = projection.shape[-2:]
    joined, projected = sqrt(6 / (inputs + outputs + gates)), sqrt(6 / (cell + outputs))
    nn.init.uniform_(input_weight, -joined, joined)
    nn.init.uniform_(recurrent_weight, -joined, joined)
    nn.init.uniform_(projection, -projected, projected)
    nn.init.zeros_(bias)
    nn.init.ones_(bias[..., cell : 2 * cell])


def _clip(values: Tensor, limit: Optional[float]) -> Tensor:
    return values.clamp(-limit, limit) if limit else values
