"""`spacy-lexner.GroupedAdamW.v1`: AdamW with a learning rate and a weight decay for each group of parameters."""

from typing import Dict, Optional

import torch
from thinc.backends import get_array_ops
from thinc.optimizers import FloatOrSeq, KeyT
from thinc.types import Floats2d, FloatsXd, Ints1d
from torch import Tensor
from torch.optim.adamw import adamw

from ...tensors.convert import array_of, tensor_of
from .grouped_optimizer import GroupedOptimizer
from .parameter_groups import GroupsT
from .table_rows import State, StepT, TableRows

LARGE = 80_000  # rows; of smaller tables, most move at any time, and updates of the whole are faster


class GroupedAdamW(GroupedOptimizer):
    """AdamW (Loshchilov and Hutter 2019) as torch.optim.AdamW computes it, for any spaCy or thinc model."""

    def __init__(
        self,
        learn_rate: FloatOrSeq = 1e-3,
        groups: Optional[GroupsT] = None,
        weight_decay: FloatOrSeq = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        max_grad_norm: float = 1.0,
        grad_clip: float = 0.0,
        use_averages: bool = False,
    ) -> None:
        """learn_rate (Union[float, Iterator[float]]): The learning rate or its schedule.
        groups (Optional[GroupsT]): The parameter groups, see `parse_groups`.
        weight_decay (Union[float, Iterator[float]]): Decoupled weight decay, unless a group has its own.
        beta1, beta2 (float): Decay of the mean of gradients, and of the mean of squared gradients.
        eps (float): Added to the denominator.
        max_grad_norm, grad_clip, use_averages: See GroupedOptimizer.
        """
        super().__init__(
            learn_rate,
            groups=groups,
            weight_decay=weight_decay,
            max_grad_norm=max_grad_norm,
            grad_clip=grad_clip,
            use_averages=use_averages,
            beta1=beta1,
            beta2=beta2,
            eps=eps,
        )

        self._rows: Dict[KeyT, TableRows] = {}

    def settle(self) -> None:
        for key, rows in self._rows.items():
            rows.settle(self._state(key, array_of(rows.weights)), self.nr_update[key])

    def change(self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, learn_rate: float, weight_decay: float) -> None:
        state = self._state(key, weights)
        if key in self._rows:
            self._rows.pop(key).settle(state, self.nr_update[key] - 1)
        step = self._step(key, learn_rate, weight_decay)
        step(tensor_of(weights), tensor_of(gradient), state.mom1, state.mom2)

    def change_rows(
        self, key: KeyT, weights: FloatsXd, rows: Ints1d, gradient: Floats2d, learn_rate: float, weight_decay: float
    ) -> bool:
        if weight_decay or len(weights) < LARGE:
            return False
        state, table, n_updates = self._state(key, weights), tensor_of(weights), self.nr_update[key]
        if key not in self._rows:
            self._rows[key] = TableRows(table, state, n_updates - 1, self.b1, self.b2)
        step = self._step(key, learn_rate, weight_decay)
        self._rows[key].update(table, state, tensor_of(rows), tensor_of(gradient), n_updates, step)
        return True

    def _state(self, key: KeyT, weights: FloatsXd) -> State:
        for moments in (self.mom1, self.mom2):
            if key not in moments:
                moments[key] = get_array_ops(weights).alloc(weights.shape, dtype=weights.dtype)
        average = None if self._averages is None else tensor_of(self._average(key, weights))
        return State(tensor_of(self.mom1[key]), tensor_of(self.mom2[key]), average)

    def _step(self, key: KeyT, learn_rate: float, weight_decay: float) -> StepT:
        def step(weights: Tensor, gradient: Tensor, mom1: Tensor, mom2: Tensor) -> None:
            adamw(
                [weights],
                [gradient],
                [mom1],
                [mom2],
                [],
                [torch.full((), self.nr_update[key] - 1.0, device=weights.device)],
                fused=True,
                amsgrad=False,
                maximize=False,
                beta1=self.b1,
                beta2=self.b2,
                lr=learn_rate,
                weight_decay=weight_decay,
                eps=self.eps,
            )

        return step
