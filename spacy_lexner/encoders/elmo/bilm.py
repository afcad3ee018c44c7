"""The bidirectional language model of ELMo: LSTMs that read a sentence forwards and backwards (Peters et al. 2018)."""

from concurrent.futures import Executor
from functools import partial
from typing import Any, Callable, ContextManager, Iterator, List, Optional, Tuple, Union, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch.utils.checkpoint import checkpoint

from ..shared.packing import Packing, pack, split_steps
from .clipped_lstm import ClippedLSTM, state_after
from .projected_lstm import LSTMState, ProjectedLSTM, stack_states
from .repeated_product import is_large
from .side_by_side import both, second_core

Layer = Union[ClippedLSTM, ProjectedLSTM]
BLOCK_ROWS = 1024


class BiLM(nn.Module):
    """Two independent stacks of projected LSTMs, one for each direction.

    From the second layer on, a layer's input is added to its output; its recurrent state is what it was before.

    projection_dim (int): Width of a word vector and of each direction's output.
    cell_dim (int): Width of the memory cells.
    n_layers (int): Number of LSTM layers.
    cell_clip (Optional[float]): Largest absolute value in a cell.
    projection_clip (Optional[float]): Largest absolute value of a layer's recurrent output.
    skip_connections (bool): Add input to output from the second layer on.
    dropout (float): Share of each layer's inputs that is dropped in training.
    stateful (bool): Start each call from the state in which the call before ended, row by row of the batch, as the
        original does. Then results depend on what was run before.
    block_rows (int): Most rows (tokens) whose gates are held at once. Results do not depend on it.
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
        # torch's LSTM knows no clipping, and no projection as wide as the cell.
        self.clipped = cell_clip is not None or projection_clip is not None or projection_dim >= cell_dim
        if not self.clipped:
            layers: List[Layer] = [ProjectedLSTM(projection_dim, cell_dim, projection_dim) for _ in range(n_layers)]
        else:
            layers = [
                ClippedLSTM(projection_dim, cell_dim, projection_dim, cell_clip, projection_clip)
                for _ in range(n_layers)
            ]
        self.layers = nn.ModuleList(layers)

    def forward(self, words: Tensor, lengths: Tensor, rows: Optional[Tensor] = None) -> List[Tensor]:
        """Run the model over a ragged batch, held in one piece.

        words (Tensor): Word vectors [n_words, projection_dim].
        lengths (Tensor): Lengths of the sequences, int64 on the CPU, each at least 1.
        rows (Tensor): For each row of the flat batch its row in `words`, int64 [n_rows]; by default, each its own.
        RETURNS (List[Tensor]): The word vectors twice side by side, then the output of each layer: n_layers + 1 tensors
            [n_rows, 2 * projection_dim], forward half first.
        """
        packing = pack(lengths)
        with self.second_core(words) as executor:
            blocks = [torch.stack(layers) for layers in self.blocks(words, packing, rows, executor)]
            return list(unpack(torch.cat(blocks, dim=2), packing))

    def second_core(self, words: Tensor, trained: bool = True) -> ContextManager[Optional[Executor]]:
        """Another core for one of the directions, where that takes less time than to share each product.

        words (Tensor): Word vectors.
        trained (bool): Whether the model may be trained.
        RETURNS (ContextManager[Optional[Executor]]): What `blocks` takes; None on a GPU or where gradients are wanted.
        """
        with torch.set_grad_enabled(trained and torch.is_grad_enabled()):
            wanted = self.clipped and _predicts(words)
        if wanted and torch.get_num_threads() > 2:  # more than two cores are of use for a large product alone
            wanted = not is_large(cast(ClippedLSTM, self.layers[0]).recurrent_weight)
        return second_core(wanted)

    def blocks(
        self,
        words: Tensor,
        packing: Packing,
        rows: Optional[Tensor] = None,
        executor: Optional[Executor] = None,
    ) -> Iterator[List[Tensor]]:
        """Run the model over a ragged batch, some steps at a time, with the state carried over.

        In training, a batch of several blocks is computed anew in the backward pass, block by block, so that only
        the layers' outputs stay in memory.

        words (Tensor): Word vectors [n_words, projection_dim].
        packing (Packing): The layout of the batch.
        rows (Tensor): For each row of the flat batch its row in `words`; by default, each its own.
        executor (Optional[Executor]): From `second_core`.
        YIELDS (List[Tensor]): For the next packed rows, the layers' outputs [2, n_block_rows, projection_dim].
        """
        index = (packing.rows if rows is None else rows.cpu()[packing.rows]).to(words.device)
        n_rows, steps = index.shape[1], split_steps(packing.sizes, self.block_rows)
        recompute = len(steps) > 1 and torch.is_grad_enabled()
        state = self._initial_state(words, packing)
        start = 0
        for sizes in steps:
            block = index[:, start : start + sum(sizes)]
            start += sum(sizes)
            goes_on = self.stateful or start < n_rows
            if recompute:
                layers, state = checkpoint(self._run, words, block, sizes, state, use_reentrant=False)
            else:
                layers, state = self._run(words, block, sizes, state, goes_on, executor)
            yield layers
        if self.stateful and steps:
            self._keep_state(state, packing)

    def reset_state(self) -> None:
        """Forget the state carried from call to call."""
        self.state = None

    def _run(
        self,
        words: Tensor,
        index: Tensor,
        sizes: List[int],
        state: List[LSTMState],
        goes_on: bool = True,
        executor: Optional[Executor] = None,
    ) -> Tuple[List[Tensor], List[LSTMState]]:
        """Each layer's output, and its state afterwards, if there is more to come."""
        if self.clipped and _predicts(words) and not (self.training and self.dropout):
            layers, rows = self._predict(words, index, sizes, state, executor)
            if goes_on:
                state = [state_after(own, sizes, before) for own, before in zip(rows, state)]
            return layers, state
        return self._through_layers(words[index], state, lambda layer, x, before: layer(x, sizes, before))

    def _predict(
        self,
        words: Tensor,
        index: Tensor,
        sizes: List[int],
        state: List[LSTMState],
        executor: Optional[Executor],
    ) -> Tuple[List[Tensor], Iterator[LSTMState]]:
        """Each direction through all layers for itself. Each layer's output, and its state at all rows."""

        def run_layer(direction: int, layer: ClippedLSTM, x: Tensor, before: LSTMState) -> Tuple[Tensor, LSTMState]:
            rows = layer.predict(direction, x, sizes, before)
            return rows.hidden, rows

        @torch.inference_mode()  # the many small calls cost less
        @torch.autocast("cpu", enabled=False)
        def run(direction: int) -> Tuple[List[Tensor], List[LSTMState]]:
            own = [LSTMState(before.hidden[direction], before.cell[direction]) for before in state]
            return self._through_layers(words[index[direction]], own, partial(run_layer, direction))

        (one, one_rows), (other, other_rows) = both(partial(run, 0), partial(run, 1), executor)
        return [torch.stack(pair) for pair in zip(one, other)], map(stack_states, one_rows, other_rows)

    def _through_layers(
        self, x: Tensor, state: List[LSTMState], run: Callable[[Any, Tensor, LSTMState], Tuple[Tensor, LSTMState]]
    ) -> Tuple[List[Tensor], List[LSTMState]]:
        """The input and each layer's output, and what `run` gives beside it. `run` computes a layer, of both directions
        or of one."""
        outputs, beside = [x], []
        for number, (layer, before) in enumerate(zip(self.layers, state)):
            x = dropout(outputs[-1], self.dropout, self.training)
            y, values = run(layer, x, before)
            outputs.append(x + y if self.skip_connections and number > 0 else y)
            beside.append(values)
        return outputs, beside

    def _initial_state(self, words: Tensor, packing: Packing) -> List[LSTMState]:
        """Zeros, or what the call before left for the rows of this batch; in the order of the layout."""
        n_rows = len(packing.order)
        order = packing.order.to(words.device)
        kept = self.state if self.stateful and self.state is not None else [None] * len(self.layers)
        state = []
        for layer in kept:
            hidden = words.new_zeros(2, n_rows, self.projection_dim)
            cell = words.new_zeros(2, n_rows, self.cell_dim)
            if layer is not None:
                known = min(n_rows, layer.hidden.shape[1])
                hidden[:, :known] = layer.hidden[:, :known]
                cell[:, :known] = layer.cell[:, :known]
                hidden, cell = hidden[:, order], cell[:, order]
            state.append(LSTMState(hidden, cell))
        return state

    def _keep_state(self, state: List[LSTMState], packing: Packing) -> None:
        """Keep the state in the order of the batch; rows beyond this batch keep theirs."""
        back = torch.argsort(packing.order).to(state[0].hidden.device)
        kept = []
        for number, layer in enumerate(state):
            values = [part.detach()[:, back] for part in layer]
            if self.state is not None:
                values = [torch.cat([new, old[:, new.shape[1] :]], 1) for new, old in zip(values, self.state[number])]
            kept.append(LSTMState(*values))
        self.state = kept


def unpack(values: Tensor, packing: Packing) -> Tensor:
    """Put packed rows back in the order of the flat batch.

    values (Tensor): Shape [..., 2, n_rows, width], in the order of the layout.
    packing (Packing): The layout.
    RETURNS (Tensor): Shape [..., n_rows, 2 * width], direction 0 in the first half.
    """
    inverse = packing.inverse.to(values.device)
    return torch.cat([values[..., d, inverse[d], :] for d in (0, 1)], dim=-1)


def _predicts(words: Tensor) -> bool:
    return words.device.type == "cpu" and not torch.is_grad_enabled()
