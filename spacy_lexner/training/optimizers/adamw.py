"""`spacy-lexner.GroupedAdamW.v1`: AdamW with a learning rate and a weight decay for each group of parameters."""

from typing import Optional

import torch
from thinc.backends import get_array_ops
from thinc.optimizers import FloatOrSeq, KeyT
from thinc.types import FloatsXd
from torch.optim.adamw import adamw

from ...tensors.convert import tensor_of
from .grouped_optimizer import GroupedOptimizer
from .parameter_groups import GroupsT


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

    def change(self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, learn_rate: float, weight_decay: float) -> None:
        ops = get_array_ops(weights)
        if key not in self.mom1:
            self.mom1[key] = ops.alloc(weights.shape, dtype=weights.dtype)
            self.mom2[key] = ops.alloc(weights.shape, dtype=weights.dtype)
        parameter = tensor_of(weights)
        adamw(
            [parameter],
            [tensor_of(gradient)],
            [tensor_of(self.mom1[key])],
            [tensor_of(self.mom2[key])],
            [],
            [torch.full((), self.nr_update[key] - 1.0, device=parameter.device)],
            fused=True,
            amsgrad=False,
            maximize=False,
            beta1=self.b1,
            beta2=self.b2,
            lr=learn_rate,
            weight_decay=weight_decay,
            eps=self.eps,
        )
