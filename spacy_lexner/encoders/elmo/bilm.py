"""The bidirectional language model of ELMo: LSTMs that read a sentence forwards and backwards (Peters et al. 2018)."""

from typing import Iterator, List, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, pad
from torch.utils.checkpoint import checkpoint

from .lstm import ClippedLSTM, LSTMState, ProjectedLSTM
from .packing import Packing, pack, split_steps

BLOCK_ROWS = 1024


class BiLM(nn.Module):
    """Two independent stacks of projected LSTMs, one for each direction.

    cell_clip (Optional[float]): Maximum absolute value of a cell; None or 0 for no clipping.
    projection_clip (Optional[float]): Maximum absolute value of a layer's recurrent output; None or 0 likewise.
    skip_connections (bool): From the second layer on, add a layer's input to its output, not to its recurrent state.
    dropout (float): Dropout of each layer's inputs.
    stateful (bool): Start each call from the final state of the previous one, row by row of the batch, as the original
        does, so that results depend on earlier batches.
    block_rows (int): Maximum number of rows (tokens) whose gates are in memory at once. Results do not depend on it.
    """

    def __init__(
        self,
        projection_dim: int,
        cell_dim: int,
        n_layers: int,
        *,
        cell_clip: Optional[float] = None,
        projection_clip: Optional[float] = None,
        skip_connections: bool = True,
        dropout: float = 0.0,
        stateful: bool = False,
        block_rows: int = BLOCK_ROWS,
    ):
        super().__init__()
        self.projection_dim = projection_dim
        self.cell_dim = cell_dim
        self.skip_connections = skip_connections
        self.dropout = dropout
        self.stateful = stateful
        self.block_rows = block_rows
        self.state: Optional[List[LSTMState]] = None
        sizes = (projection_dim, cell_dim, projection_dim)
        # torch's LSTM has no clipping, and its projection must be narrower than the cell.
        if not cell_clip and not projection_clip and projection_dim < cell_dim:
            self.layers = nn.ModuleList(ProjectedLSTM(*sizes) for _ in range(n_layers))
        else:
            self.layers = nn.ModuleList(ClippedLSTM(*sizes, cell_clip, projection_clip) for _ in range(n_layers))

    def forward(self, words: Tensor, lengths: Tensor, rows: Optional[Tensor] = None) -> List[Tensor]:
        """Run the model over a ragged batch and keep all layers.

        words (Tensor): Word vectors [n_words, projection_dim].
        lengths (Tensor): Lengths of the sequences, int64 on the CPU, each at least 1.
        rows (Optional[Tensor]): For each row of the flat batch its row in `words`, int64 [n_rows]. None: the same row.
        RETURNS (List[Tensor]): The word vectors twice side by side, then the output of each layer: n_layers + 1 tensors
            [n_rows, 2 * projection_dim], forward half first.
        """
        packing = pack(lengths)
        rows = torch.arange(len(words)) if rows is None else rows
        blocks = self.blocks(words, packing, rows)
        return [unpack(torch.cat(layer, dim=1), packing) for layer in zip(*blocks)]

    def blocks(self, words: Tensor, packing: Packing, rows: Tensor) -> Iterator[List[Tensor]]:
        """Run the model over a ragged batch in blocks of steps, carrying the state over; `words` and `rows` as in
        `forward`.

        In training, a batch of several blocks is recomputed in the backward pass, block by block, so that only the
        layers' outputs stay in memory.

        YIELDS (List[Tensor]): For the next packed rows, the input and the layers' outputs, each [2, n_block_rows,
            projection_dim].
        """
        index = rows.cpu()[packing.rows].to(words.device)
        order = packing.order.to(words.device)
        kept = self._kept_state(words, len(order))
        state = [LSTMState(hidden[:, order], cell[:, order]) for hidden, cell in kept]
        steps = split_steps(packing.sizes, self.block_rows)
        parts = index.split([sum(sizes) for sizes in steps], dim=1)
        for sizes, part in zip(steps, parts):
            if len(steps) > 1 and torch.is_grad_enabled():
                layers, state = checkpoint(self._run, words, part, sizes, state, use_reentrant=False)
            else:
                layers, state = self._run(words, part, sizes, state)
            yield layers
        if self.stateful:
            for (hidden, cell), last in zip(kept, state):
                hidden[:, order], cell[:, order] = last.hidden.detach(), last.cell.detach()
            self.state = kept

    def _run(
        self, words: Tensor, index: Tensor, sizes: List[int], state: List[LSTMState]
    ) -> Tuple[List[Tensor], List[LSTMState]]:
        """RETURNS (Tuple[List[Tensor], List[LSTMState]]): The input and each layer's output, and each layer's final
        state."""
        outputs, after = [words[index]], []
        for number, (layer, before) in enumerate(zip(self.layers, state)):
            x = dropout(outputs[-1], self.dropout, self.training)
            y, last = layer(x, sizes, before)
            outputs.append(x + y if self.skip_connections and number > 0 else y)
            after.append(last)
        return outputs, after

    def _kept_state(self, words: Tensor, n_sequences: int) -> List[LSTMState]:
        """RETURNS (List[LSTMState]): The final state of the previous call for each row of a batch, zeros for new rows.
        Rows beyond this batch are kept."""
        if self.stateful and self.state is not None:
            missing = max(0, n_sequences - self.state[0].hidden.shape[1])
            return [LSTMState(*(pad(part.to(words), (0, 0, 0, missing)) for part in layer)) for layer in self.state]
        widths = (self.projection_dim, self.cell_dim)
        return [LSTMState(*(words.new_zeros(2, n_sequences, width) for width in widths)) for _ in self.layers]


def unpack(values: Tensor, packing: Packing) -> Tensor:
    """Put packed rows [2, n_rows, width] back in the order of the flat batch: [n_rows, 2 * width], direction 0
    first."""
    inverse = packing.inverse.to(values.device)
    return torch.cat([values[direction, inverse[direction]] for direction in (0, 1)], dim=1)
