"""AdamW on a large table of vectors of which each gradient has few rows."""

from typing import Callable, NamedTuple, Optional

import torch
from torch import Tensor

from .averages import decay_between, move_average

NEGLIGIBLE = 1e-6  # a step, as a share of the learning rate; all that would follow are together ten times as large
INTERVAL = 16  # updates between two searches for rows that have come to rest

StepT = Callable[[Tensor, Tensor, Tensor, Tensor], None]  # changes weights, given gradients, and both moments, in place


class State(NamedTuple):
    """What an optimiser keeps for a table or for some of its rows; all [n_rows, width]."""

    mom1: Tensor  # mean of gradients
    mom2: Tensor  # mean of squared gradients
    average: Optional[Tensor]  # of the weights, float32

    def take(self, rows: Tensor) -> "State":
        """RETURNS (State): Copies of some rows."""
        return State(*(None if each is None else each.index_select(0, rows) for each in self))  # type: ignore[arg-type]

    def put(self, rows: Tensor, part: "State") -> None:
        """Set some rows."""
        for whole, own in zip(self, part):
            if whole is not None and own is not None:
                whole.index_copy_(0, rows, own)


class TableRows:
    """Which rows of a table move, and the state of these.

    Without weight decay, AdamW moves a row that has no gradient by momentum alone, less each time. Once its steps are
    negligible, the row rests until it has a gradient again; its state is then brought up to date in closed form. So the
    weights are those of updates of the whole table, up to rounding, and an update takes as long as the rows of the last
    hundred batches do. The state of the whole table is only up to date after `settle`.
    """

    def __init__(self, weights: Tensor, state: State, n_updates: int, beta1: float, beta2: float) -> None:
        """weights (Tensor): The table, [n_rows, width].
        state (State): Its state, up to date.
        n_updates (int): How many updates it had.
        beta1, beta2 (float): Decay of its moments.
        """
        self.weights = weights  # as they were last updated
        self.beta1, self.beta2 = beta1, beta2
        self._load(state, n_updates)

    def update(
        self, weights: Tensor, state: State, rows: Tensor, gradient: Tensor, n_updates: int, step: StepT
    ) -> None:
        """Update the weights in place.

        weights (Tensor): The table.
        state (State): Its state.
        rows (Tensor): int64[n], the distinct rows that have a gradient.
        gradient (Tensor): float[n, width].
        n_updates (int): The number of this update, from 1.
        step (Callable): Changes weights, given gradients, and both moments.
        """
        self.weights = weights
        woken = rows[self._places[rows] < 0]
        self._start(woken, self._caught_up(state, woken, n_updates - 1))
        n_moving = len(self._moving)
        mom1, mom2, average = self._own
        own, gradients = torch.index_select(weights, 0, self._moving), self._gradients[:n_moving]
        gradients.zero_().index_copy_(0, self._places[rows], gradient)
        step(own, gradients, mom1[:n_moving], mom2[:n_moving])
        weights.index_copy_(0, self._moving, own)
        if average is not None:
            move_average(average[:n_moving], own, n_updates)
        if n_updates % INTERVAL == 0:
            self._rest(state, n_updates)

    def settle(self, state: State, n_updates: int) -> None:
        """Bring the state of the whole table up to date. What moves is then found as if the table had been loaded: a
        run that is resumed goes on exactly as one that was not interrupted."""
        resting = (self._places < 0).nonzero().squeeze(1)
        state.put(resting, self._caught_up(state, resting, n_updates))
        state.put(self._moving, self._moving_state())
        self._load(state, n_updates)

    def _load(self, state: State, n_updates: int) -> None:
        n_rows, device = len(self.weights), self.weights.device
        self._moving = torch.zeros(0, dtype=torch.int64, device=device)  # their numbers
        self._places = torch.full((n_rows,), -1, device=device)  # of each row among those; -1 for one that rests
        self._rests_since = torch.full((n_rows,), n_updates, device=device)  # its state is that after this update
        # Those of the moving rows, with room for more.
        self._own = State(*(None if each is None else each[:0] for each in state))  # type: ignore[arg-type]
        self._gradients = self.weights[:0]
        moving = _are_moving(state).nonzero().squeeze(1)
        self._start(moving, state.take(moving))

    def _start(self, rows: Tensor, state: State) -> None:
        """From now on, move some rows, given their state."""
        n_before, n_moving = len(self._moving), len(self._moving) + len(rows)
        if n_moving > len(self._gradients):
            size = (max(n_moving, 2 * n_before), self.weights.shape[1])
            before, self._gradients = self._moving_state(), self.weights.new_empty(size)
            self._own = State(*(None if each is None else each.new_empty(size) for each in state))  # type: ignore[arg-type]
            self._set(slice(0, n_before), before)
        self._set(slice(n_before, n_moving), state)
        self._places[rows] = torch.arange(n_before, n_moving, device=rows.device)
        self._moving = torch.cat([self._moving, rows])

    def _set(self, places: slice, state: State) -> None:
        for own, given in zip(self._own, state):
            if own is not None and given is not None:
                own[places] = given

    def _moving_state(self) -> State:
        n_moving = len(self._moving)
        return State(*(None if each is None else each[:n_moving] for each in self._own))  # type: ignore[arg-type]

    def _rest(self, state: State, n_updates: int) -> None:
        """Let the rows rest that hardly move."""
        own = self._moving_state()
        move = _are_moving(own)
        kept, resting = move.nonzero().squeeze(1), (~move).nonzero().squeeze(1)
        rows, moving = self._moving[resting], self._moving[kept]
        state.put(rows, own.take(resting))
        self._places[rows], self._rests_since[rows] = -1, n_updates
        self._moving, own = moving[:0], own.take(kept)
        self._start(moving, own)

    def _caught_up(self, state: State, rows: Tensor, n_updates: int) -> State:
        """The state of rows that rest, after this number of updates."""
        since = self._rests_since[rows]
        gap = (n_updates - since).unsqueeze(1)
        mom1, mom2, average = state.take(rows)
        if average is not None:
            kept = decay_between(since, n_updates).unsqueeze(1).to(average)
            average = torch.lerp(self.weights.index_select(0, rows).to(average), average, kept)
        return State(mom1 * self.beta1**gap, mom2 * self.beta2**gap, average)


def _are_moving(state: State) -> Tensor:
    """RETURNS (Tensor): Whether a further step without a gradient is not negligible, bool[n_rows]. (AdamW corrects the
    moments, which only makes its steps shorter.)"""
    return (state.mom1.abs() > NEGLIGIBLE * state.mom2.sqrt()).any(1)
