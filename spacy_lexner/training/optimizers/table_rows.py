"""AdamW on a table of vectors of which each gradient has few rows."""

from typing import Callable, NamedTuple, Optional

import torch
from torch import Tensor

from .averages import decay_between, move_average

NEGLIGIBLE = 1e-6  # a step, as a share of the learning rate; all that would follow are together ten times as large
INTERVAL = 16  # updates between two searches for rows that have come to rest

StepT = Callable[[Tensor, Tensor, Tensor, Tensor], None]  # changes weights, given gradients, and both moments, in place


class Table(NamedTuple):
    """A table, or some of its rows, and what an optimiser keeps for it; all [n_rows, width]."""

    weights: Tensor
    mom1: Tensor  # mean of gradients
    mom2: Tensor  # mean of squared gradients
    average: Optional[Tensor]  # of the weights, float32

    def take(self, rows: Tensor) -> "Table":
        """RETURNS (Table): Copies of some rows."""
        return Table(*(None if each is None else each.index_select(0, rows) for each in self))  # type: ignore[arg-type]

    def put(self, rows: Tensor, part: "Table") -> None:
        """Set some rows."""
        for whole, own in zip(self, part):
            if whole is not None and own is not None:
                whole.index_copy_(0, rows, own)


class TableRows:
    """Which rows of a table move.

    Without weight decay, AdamW moves a row that has no gradient by momentum alone, less each time. Once its steps are
    negligible, the row rests: moments and average are left as they are, until it has a gradient or `settle` is called,
    and then brought up to date in closed form. So the weights are those of updates of the whole table, up to rounding,
    and an update takes as long as the rows of the last hundred batches do.
    """

    def __init__(self, table: Table, n_updates: int, beta1: float, beta2: float) -> None:
        """table (Table): The table, up to date.
        n_updates (int): How many updates it had.
        beta1, beta2 (float): Decay of its moments.
        """
        self.weights = table.weights  # as they were last updated
        self.beta1, self.beta2 = beta1, beta2
        n_rows, device = len(table.weights), table.weights.device
        self._moving = torch.zeros(0, dtype=torch.int64, device=device)  # their numbers
        self._places = torch.full((n_rows,), -1, device=device)  # of rows in `_moving`; -1 for rows that rest
        self._n_updates = torch.full((n_rows,), n_updates, device=device)  # for rows that rest, of moments and average
        self._start(_are_moving(table).nonzero().squeeze(1))

    def update(self, table: Table, rows: Tensor, gradient: Tensor, n_updates: int, step: StepT) -> None:
        """Update the table in place.

        table (Table): The table.
        rows (Tensor): int64[n], the distinct rows that have a gradient.
        gradient (Tensor): float[n, width].
        n_updates (int): The number of this update, from 1.
        step (Callable): Changes rows that are given as copies: weights, gradient, both moments.
        """
        self.weights = table.weights
        woken = rows[self._places[rows] < 0]
        self._catch_up(table, woken, n_updates - 1)
        self._start(woken)
        part = table.take(self._moving)
        whole = torch.zeros_like(part.weights).index_copy_(0, self._places[rows], gradient)
        step(part.weights, whole, part.mom1, part.mom2)
        if part.average is not None:
            move_average(part.average, part.weights, n_updates)
        table.put(self._moving, part)
        if n_updates % INTERVAL == 0:
            self._rest(_are_moving(part), n_updates)

    def settle(self, table: Table, n_updates: int) -> None:
        """Bring all rows up to date, and let those rest that would rest if the table were loaded now: a run that is
        resumed goes on exactly as one that was not interrupted."""
        self._catch_up(table, (self._places < 0).nonzero().squeeze(1), n_updates)
        moving = self._moving.sort().values
        self._rest(torch.ones_like(moving, dtype=torch.bool), n_updates)
        self._moving = moving
        self._rest(_are_moving(table.take(moving)), n_updates)

    def _start(self, rows: Tensor) -> None:
        self._places[rows] = torch.arange(len(self._moving), len(self._moving) + len(rows), device=rows.device)
        self._moving = torch.cat([self._moving, rows])

    def _rest(self, moves: Tensor, n_updates: int) -> None:
        """Of the moving rows, keep those that still move, bool[n_moving]."""
        resting, moving = self._moving[~moves], self._moving[moves]
        self._n_updates[resting] = n_updates
        self._places[resting] = -1
        self._moving = moving[:0]
        self._start(moving)

    def _catch_up(self, table: Table, rows: Tensor, n_updates: int) -> None:
        """Bring rows that rest up to date."""
        since = self._n_updates[rows]
        gap = (n_updates - since).unsqueeze(1)
        part = table.take(rows)
        part.mom1.mul_(self.beta1**gap)
        part.mom2.mul_(self.beta2**gap)
        if part.average is not None:
            kept = decay_between(since, n_updates).unsqueeze(1).to(part.average)
            part.average.copy_(torch.lerp(part.weights.to(part.average), part.average, kept))
        table.put(rows, part)
        self._n_updates[rows] = n_updates


def _are_moving(table: Table) -> Tensor:
    """RETURNS (Tensor): Whether a further step without a gradient is not negligible, bool[n_rows]. (AdamW corrects the
    moments, which only makes its steps shorter.)"""
    return (table.mom1.abs() > NEGLIGIBLE * table.mom2.sqrt()).any(1)
