"""The LSTM whose hidden state is a projection of its cell (Sak et al. 2014), in two independent directions."""

from math import sqrt
from typing import List, NamedTuple, Tuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence


class LSTMState(NamedTuple):
    """What a layer carries from step to step.

    hidden (Tensor): Projected outputs, shape [2, n_sequences, projection_dim].
    cell (Tensor): Memory cells, shape [2, n_sequences, cell_dim].
    """

    hidden: Tensor
    cell: Tensor


class ProjectedLSTM(nn.Module):
    """One layer without clipping, in two directions that have their own input, weights and state: torch's own LSTM.

    input_dim (int): Width of the input.
    cell_dim (int): Width of the memory cell.
    projection_dim (int): Width of the output, less than `cell_dim`.
    """

    def __init__(self, input_dim: int, cell_dim: int, projection_dim: int):
        super().__init__()
        self.directions = nn.ModuleList(nn.LSTM(input_dim, cell_dim, proj_size=projection_dim) for _ in range(2))
        for lstm in self.directions:
            weights = dict(lstm.named_parameters())
            initialize_weights(*(weights[f"{name}_l0"] for name in ("weight_ih", "weight_hh", "bias_hh", "weight_hr")))
            nn.init.zeros_(weights["bias_ih_l0"])

    def set_direction(
        self, direction: int, input_: Tensor, recurrent: Tensor, bias: Tensor, projection: Tensor
    ) -> None:
        """Put given weights into one direction.

        direction (int): 0 or 1.
        input_ (Tensor): Shape [4 * cell_dim, input_dim], gates in the order input, forget, candidate, output.
        recurrent (Tensor): Shape [4 * cell_dim, projection_dim].
        bias (Tensor): Shape [4 * cell_dim].
        projection (Tensor): Shape [projection_dim, cell_dim].
        """
        lstm = self.directions[direction]
        weights = {"weight_ih_l0": input_, "weight_hh_l0": recurrent, "bias_hh_l0": bias, "weight_hr_l0": projection}
        lstm.load_state_dict({**weights, "bias_ih_l0": torch.zeros_like(bias)})

    def forward(self, x: Tensor, sizes: List[int], state: LSTMState) -> Tuple[Tensor, LSTMState]:
        """x (Tensor): Inputs in time-major order, shape [2, n_rows, input_dim].
        sizes (List[int]): How many sequences run at each step, never growing.
        state (LSTMState): State before the first step, of all sequences; those that run are the first ones.
        RETURNS (Tuple[Tensor, LSTMState]): Outputs [2, n_rows, projection_dim], and the state of each sequence after
            its last step.
        """
        running = sizes[0]
        outputs, hiddens, cells = [], [], []
        for lstm, rows, hidden, cell in zip(self.directions, x, *state):
            assert isinstance(lstm, nn.LSTM)
            if rows.is_cuda:
                lstm.flatten_parameters()
            initial = (hidden[:running].unsqueeze(0).contiguous(), cell[:running].unsqueeze(0).contiguous())
            output, (last_hidden, last_cell) = lstm(PackedSequence(rows, torch.tensor(sizes)), initial)
            outputs.append(output.data)
            hiddens.append(torch.cat([last_hidden[0], hidden[running:]]))
            cells.append(torch.cat([last_cell[0], cell[running:]]))
        return torch.stack(outputs), LSTMState(torch.stack(hiddens), torch.stack(cells))


def stack_states(one: LSTMState, other: LSTMState) -> LSTMState:
    """one, other (LSTMState): Of a direction each, without the dimension of directions.
    RETURNS (LSTMState): Of both.
    """
    return LSTMState(torch.stack([one.hidden, other.hidden]), torch.stack([one.cell, other.cell]))


def initialize_weights(input_: Tensor, recurrent: Tensor, bias: Tensor, projection: Tensor) -> None:
    """Draw weights as the original biLM trainer does: Glorot over input and state joined, forget bias 1.

    input_, recurrent, bias, projection (Tensor): As in `ProjectedLSTM.set_direction`, with any leading dimensions;
        changed in place.
    """
    gates, inputs = input_.shape[-2:]
    outputs, cell = projection.shape[-2:]
    joined, projected = sqrt(6 / (inputs + outputs + gates)), sqrt(6 / (cell + outputs))
    nn.init.uniform_(input_, -joined, joined)
    nn.init.uniform_(recurrent, -joined, joined)
    nn.init.uniform_(projection, -projected, projected)
    nn.init.zeros_(bias)
    nn.init.ones_(bias[..., cell : 2 * cell])
