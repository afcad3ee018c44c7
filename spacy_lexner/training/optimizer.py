"""`spacy-lexner.GroupedAdamW.v1`: AdamW with a learning rate and a weight decay for each group of parameters."""

import warnings
from typing import Any, Dict, List, Optional, Tuple, Union

import torch
from thinc.backends import get_array_ops
from thinc.optimizers import FloatOrSeq, KeyT, Optimizer
from thinc.types import FloatsXd
from torch.optim.adamw import adamw

from .parameter_groups import ParameterGroup, parse_groups

GroupsT = Union[List[Dict[str, Any]], Dict[str, Dict[str, Any]]]


def create_grouped_adamw(
    learn_rate: FloatOrSeq = 1e-3,
    groups: Optional[GroupsT] = None,
    weight_decay: FloatOrSeq = 0.01,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    max_grad_norm: float = 1.0,
    grad_clip: float = 0.0,
    use_averages: bool = False,
) -> "GroupedAdamW":
    """Create AdamW with parameter groups. The rest of the arguments are those of `GroupedAdamW`.

    groups (Optional[Union[List[Dict[str, Any]], Dict[str, Dict[str, Any]]]]): The groups, as a list or under names of
        your choice: `pattern`, a regular expression that is searched in a parameter's name, and what is special about
        its parameters: `learn_rate_factor`, `weight_decay` or both. (A `$` comes back from a saved config as `$$`: the
        same expression.)
    RETURNS (GroupedAdamW): The optimiser.
    """
    return GroupedAdamW(
        learn_rate,
        groups=parse_groups(groups),
        weight_decay=weight_decay,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        max_grad_norm=max_grad_norm,
        grad_clip=grad_clip,
        use_averages=use_averages,
    )


class GroupedAdamW(Optimizer):
    """AdamW (Loshchilov and Hutter 2019) as torch.optim.AdamW computes it, for any spaCy or thinc model.

    A parameter is known by its name: `W` or `b` in a thinc layer, `encoder.layer.0.output.dense.weight` in a torch
    module. Each of its two settings comes from the first group that matches the name and has that setting.
    """

    __slots__ = ["_checked", "_settings", "groups", "max_grad_norm"]

    def __init__(
        self,
        learn_rate: FloatOrSeq = 1e-3,
        *,
        groups: Tuple[ParameterGroup, ...] = (),
        weight_decay: FloatOrSeq = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        max_grad_norm: float = 1.0,
        grad_clip: float = 0.0,
        use_averages: bool = False,
    ) -> None:
        """Create the optimiser.

        learn_rate (Union[float, Iterator[float]]): The learning rate or its schedule.
        groups (Tuple[ParameterGroup, ...]): The parameter groups.
        weight_decay (Union[float, Iterator[float]]): Decoupled weight decay of parameters whose group has none.
        beta1 (float): Decay of the mean of gradients.
        beta2 (float): Decay of the mean of squared gradients.
        eps (float): Added to the denominator.
        max_grad_norm (float): The norm of all gradients of a component together, to which components that know this
            attribute scale larger ones (see `clipping.finish_update`). 0 means no limit.
        grad_clip (float): The same for each parameter alone, in every component. 0 means no limit.
        use_averages (bool): Keep a moving average of the parameters, which spaCy evaluates and saves.
        """
        super().__init__(
            learn_rate,
            L2=weight_decay,
            beta1=beta1,
            beta2=beta2,
            eps=eps,
            grad_clip=grad_clip,
            use_averages=use_averages,
        )
        self.max_grad_norm = max_grad_norm
        self.groups = groups
        self._settings: Dict[str, Tuple[float, Optional[float]]] = {}
        self._checked = not groups

    def __call__(
        self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, *, lr_scale: float = 1.0
    ) -> Tuple[FloatsXd, FloatsXd]:
        """Update one parameter, in place where its memory allows.

        key (Tuple[int, str]): The id of the layer or shim and the name of the parameter.
        weights (FloatsXd): The parameter.
        gradient (FloatsXd): Its gradient, which is set to zero.
        lr_scale (float): Factor of the learning rate.
        RETURNS (Tuple[FloatsXd, FloatsXd]): The new weights and the zeroed gradient.
        """
        if gradient.size < 1:
            return weights, gradient
        self.nr_update[key] += 1
        if not self._checked and self.nr_update[key] > 1:  # the first pass over the parameters is over
            self._checked = True
            self._warn_unmatched()
        factor, weight_decay = self._get_settings(key[1])
        ops = get_array_ops(weights)
        if not (weights.flags.c_contiguous and getattr(weights.flags, "writeable", True)):
            weights = weights.copy(order="C")
        if key not in self.mom1:
            self.mom1[key] = ops.alloc(weights.shape, dtype=weights.dtype)
            self.mom2[key] = ops.alloc(weights.shape, dtype=weights.dtype)
        if self.grad_clip:
            gradient = ops.clip_gradient(gradient, self.grad_clip)
        step_gradient = gradient if gradient.flags.c_contiguous else gradient.copy(order="C")
        parameter = torch.from_dlpack(weights)
        adamw(
            [parameter],
            [torch.from_dlpack(step_gradient)],
            [torch.from_dlpack(self.mom1[key])],
            [torch.from_dlpack(self.mom2[key])],
            [],
            [torch.full((), self.nr_update[key] - 1.0, device=parameter.device)],
            fused=True,
            amsgrad=False,
            maximize=False,
            beta1=self.b1,
            beta2=self.b2,
            lr=self.learn_rate * factor * lr_scale,
            weight_decay=self.L2 if weight_decay is None else weight_decay,
            eps=self.eps,
        )
        gradient.fill(0)  # also where it was NaN, which a product with 0 would keep
        if self.averages is not None:
            if key not in self.averages:
                self.averages[key] = ops.alloc(weights.shape, dtype="float32")
            ops.update_averages(self.averages[key], weights, self.nr_update[key])
        return weights, gradient

    def _get_settings(self, name: str) -> Tuple[float, Optional[float]]:
        if name not in self._settings:
            matching = [group for group in self.groups if group.matches(name)]
            factors = [group.learn_rate_factor for group in matching if group.learn_rate_factor is not None]
            decays = [group.weight_decay for group in matching if group.weight_decay is not None]
            self._settings[name] = (factors[0] if factors else 1.0, decays[0] if decays else None)
        return self._settings[name]

    def _warn_unmatched(self) -> None:
        for group in self.groups:
            if not any(group.matches(name) for name in self._settings):
                names = sorted(self._settings)
                shown = ", ".join(names[:5]) + (f" … ({len(names)} in all)" if len(names) > 5 else "")
                warnings.warn(
                    f"The pattern {group.pattern.pattern!r} of a parameter group matches none of the parameters that "
                    f"are trained: {shown}. Its settings have no effect.",
                    UserWarning,
                    stacklevel=3,
                )
