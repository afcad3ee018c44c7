"""`spacy-lexner.GroupedSGD.v1`: stochastic gradient descent with momentum."""

from typing import Optional

from thinc.backends import get_array_ops
from thinc.optimizers import FloatOrSeq, KeyT
from thinc.types import FloatsXd
from torch.optim.sgd import sgd

from ...tensors.convert import tensor_of
from .grouped_optimizer import GroupedOptimizer
from .parameter_groups import GroupsT


class GroupedSGD(GroupedOptimizer):
    """SGD as torch.optim.SGD computes it, for any spaCy or thinc model. FLAT's authors train with it."""

    __slots__ = ["max_grad_value", "momentum"]

    def __init__(
        self,
        learn_rate: FloatOrSeq = 1e-3,
        groups: Optional[GroupsT] = None,
        momentum: float = 0.9,
        weight_decay: FloatOrSeq = 0.0,
        max_grad_value: float = 0.0,
        max_grad_norm: float = 0.0,
        grad_clip: float = 0.0,
        use_averages: bool = False,
    ) -> None:
        """learn_rate (Union[float, Iterator[float]]): The learning rate or its schedule.
        groups (Optional[GroupsT]): The parameter groups, see `parse_groups`.
        momentum (float): Share of the last step that is added.
        weight_decay (Union[float, Iterator[float]]): Weight decay, added to gradients, unless a group has its own.
        max_grad_value (float): Largest absolute value in gradients; 0 for no limit.
        max_grad_norm, grad_clip, use_averages: See GroupedOptimizer.
        """
        super().__init__(
            learn_rate,
            groups=groups,
            weight_decay=weight_decay,
            max_grad_norm=max_grad_norm,
            grad_clip=grad_clip,
            use_averages=use_averages,
        )
        self.momentum = momentum
        self.max_grad_value = max_grad_value

    def change(self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, learn_rate: float, weight_decay: float) -> None:
        if key not in self.mom1:
            self.mom1[key] = get_array_ops(weights).alloc(weights.shape, dtype=weights.dtype)
        step = tensor_of(gradient)
        if self.max_grad_value:
            step.clamp_(-self.max_grad_value, self.max_grad_value)
        sgd(
            [tensor_of(weights)],
            [step],
            [tensor_of(self.mom1[key])],
            weight_decay=weight_decay,
            momentum=self.momentum,
            lr=learn_rate,
            dampening=0.0,
            nesterov=False,
            maximize=False,
        )
