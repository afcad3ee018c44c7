"""The base class of optimisers with parameter groups."""

import math
import warnings
from typing import Any, Dict, Optional, Tuple

from thinc.backends import get_array_ops
from thinc.model import Model
from thinc.optimizers import FloatOrSeq, KeyT, Optimizer
from thinc.shims import PyTorchShim
from thinc.types import Floats2d, FloatsXd, Ints1d

from ...tensors.convert import tensor_of
from .averages import move_average
from .clipping import clip_gradients
from .parameter_groups import GroupsT, parse_groups


class GroupedOptimizer(Optimizer):
    """A thinc optimiser with a learning rate and a weight decay for each group of parameters. A subclass defines how a
    parameter changes (`change`).

    Groups match parameter names: `W` or `b` in a thinc layer, `encoder.layer.0.output.dense.weight` in a torch module.
    Each setting of a parameter comes from the first matching group that has it.
    """

    __slots__ = ["_averages", "_checked", "_settings", "_zeros", "groups", "is_clipped", "max_grad_norm"]

    def __init__(
        self,
        learn_rate: FloatOrSeq,
        *,
        groups: Optional[GroupsT],
        weight_decay: FloatOrSeq,
        max_grad_norm: float,
        grad_clip: float,
        use_averages: bool,
        **moments: Any,
    ) -> None:
        """learn_rate (Union[float, Iterator[float]]): The learning rate or its schedule.
        groups (Optional[GroupsT]): The parameter groups, see `parse_groups`.
        weight_decay (Union[float, Iterator[float]]): Weight decay of parameters whose group has none.
        max_grad_norm (float): Largest global norm of a component's gradients (see `finish_update`); 0 for no limit.
            spaCy's own components ignore it: for a spaCy `ner`, `tok2vec` or `textcat`, set `grad_clip`.
        grad_clip (float): Largest norm of the gradient of each parameter, in every component; 0 for no limit.
        use_averages (bool): Keep a moving average of the parameters, which spaCy evaluates and saves.
        moments (Any): `beta1`, `beta2`, `eps` of thinc's Optimizer.
        """
        super().__init__(learn_rate, L2=weight_decay, grad_clip=grad_clip, use_averages=use_averages, **moments)
        self.max_grad_norm = max_grad_norm
        self.is_clipped = False  # whether the gradients of the model being updated are clipped as a whole
        self.groups = parse_groups(groups)
        self._settings: Dict[KeyT, Tuple[float, Optional[float]]] = {}
        self._zeros: Dict[KeyT, FloatsXd] = {}  # gradients of tables, between updates
        self._checked = not self.groups

    def finish_update(self, model: Model) -> float:
        """Finish an update of a component: clip its gradients to `max_grad_norm` and step.

        model (Model): The component's model, with gradients.
        RETURNS (float): The norm of the gradients before clipping, 0.0 without a limit. If it is not finite, the update
            is skipped with a warning, so that one bad batch does not ruin the weights.
        """
        norm = clip_gradients(model, self.max_grad_norm) if self.max_grad_norm else 0.0
        if math.isfinite(norm):
            self.is_clipped = True
            try:
                model.finish_update(self)
            finally:
                self.is_clipped = False
        else:
            warnings.warn(
                f"The norm of the gradients is {norm}: this update is skipped. If this happens often, lower "
                "training.optimizer.learn_rate or turn off mixed precision.",
                RuntimeWarning,
                stacklevel=2,
            )
            for shim in (shim for node in model.walk() for shim in node.shims if isinstance(shim, PyTorchShim)):
                shim._grad_scaler.update()  # lowers its scale, or gradients would overflow forever
        return norm

    @property
    def averages(self) -> Optional[Dict[KeyT, FloatsXd]]:
        """RETURNS (Optional[Dict[Tuple[int, str], FloatsXd]]): The averages of the parameters, or None."""
        self.settle()
        return self._averages

    @averages.setter
    def averages(self, averages: Optional[Dict[KeyT, FloatsXd]]) -> None:
        self._averages = averages

    def settle(self) -> None:
        """Bring moments and averages up to date, before they are read."""

    def change(self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, learn_rate: float, weight_decay: float) -> None:
        """Update one parameter in place. `key` is the id of its layer or shim and its name. Weights and gradient are
        contiguous; the gradient may be overwritten."""
        raise NotImplementedError

    def change_rows(
        self, key: KeyT, weights: FloatsXd, rows: Ints1d, gradient: Floats2d, learn_rate: float, weight_decay: float
    ) -> bool:
        """Update a table, and its average, in place, given the gradient of some rows; the others have none. Returns
        False, and does nothing, if it needs the gradient of the whole table."""
        return False

    def __call__(
        self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, *, lr_scale: float = 1.0
    ) -> Tuple[FloatsXd, FloatsXd]:
        """Update one parameter, in place if its memory is contiguous and writeable. `lr_scale` is a factor on the
        learning rate. Returns the new weights, and the gradient set to zero."""
        if gradient.size < 1:
            return weights, gradient
        factor, decay = self._start(key)
        if self.grad_clip:
            gradient = get_array_ops(weights).clip_gradient(gradient, self.grad_clip)
        return self._update(key, _writeable(weights), gradient, self.learn_rate * factor * lr_scale, decay)

    def update_rows(
        self, key: KeyT, weights: FloatsXd, rows: Ints1d, gradient: Floats2d, *, lr_scale: float = 1.0
    ) -> FloatsXd:
        """Update a table, given the gradient of some rows, as a call with a gradient that is zero elsewhere does.

        key (Tuple[int, str]): The id of its layer or shim, and its name.
        weights (FloatsXd): The table, [n_rows, width].
        rows (Ints1d): Numbers of rows, each once.
        gradient (Floats2d): Their gradient, [n, width]. It may be overwritten.
        lr_scale (float): Factor on the learning rate.
        RETURNS (FloatsXd): The new table, the same array if that is contiguous and writeable.
        """
        factor, decay = self._start(key)
        weights, rate = _writeable(weights), self.learn_rate * factor * lr_scale
        if self.grad_clip:
            gradient = get_array_ops(weights).clip_gradient(gradient, self.grad_clip)
        if not self.change_rows(key, weights, rows, gradient, rate, decay):
            # Kept from update to update: for a large table, making zeros takes as long as all the rest.
            whole = self._zeros.pop(key, None)
            whole = get_array_ops(weights).alloc(weights.shape, dtype=weights.dtype) if whole is None else whole
            tensor_of(whole).index_copy_(0, tensor_of(rows).long(), tensor_of(gradient))
            weights, self._zeros[key] = self._update(key, weights, whole, rate, decay)
        return weights

    def _start(self, key: KeyT) -> Tuple[float, float]:
        """Count an update. Returns the factor on the learning rate, and the weight decay."""
        self.nr_update[key] += 1
        if not self._checked and key in self._settings:  # the first pass over the parameters is over
            self._checked = True
            self._warn_unmatched()
        factor, decay = self._get_settings(key)
        return factor, self.L2 if decay is None else decay

    def _update(
        self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, rate: float, decay: float
    ) -> Tuple[FloatsXd, FloatsXd]:
        self.change(key, weights, gradient if gradient.flags.c_contiguous else gradient.copy(order="C"), rate, decay)
        gradient.fill(0)  # not `*= 0`, which would keep NaN
        if self._averages is not None:
            move_average(tensor_of(self._average(key, weights)), tensor_of(weights), self.nr_update[key])
        return weights, gradient

    def _average(self, key: KeyT, weights: FloatsXd) -> FloatsXd:
        assert self._averages is not None
        if key not in self._averages:
            self._averages[key] = get_array_ops(weights).alloc(weights.shape, dtype="float32")
        return self._averages[key]

    def _get_settings(self, key: KeyT) -> Tuple[float, Optional[float]]:
        if key not in self._settings:
            matching = [group for group in self.groups if group.matches(key[1])]
            factors = [group.learn_rate_factor for group in matching if group.learn_rate_factor is not None]
            decays = [group.weight_decay for group in matching if group.weight_decay is not None]
            self._settings[key] = (factors[0] if factors else 1.0, decays[0] if decays else None)
        return self._settings[key]

    def _warn_unmatched(self) -> None:
        names = sorted({name for _, name in self._settings})
        for group in self.groups:
            if not group.optional and not any(group.matches(name) for name in names):
                shown = ", ".join(names[:5]) + (f" … ({len(names)} in all)" if len(names) > 5 else "")
                warnings.warn(
                    f"The pattern {group.pattern.pattern!r} of a parameter group matches none of the trained "
                    f"parameters: {shown}. Its settings have no effect.",
                    UserWarning,
                    stacklevel=3,
                )


def _writeable(weights: FloatsXd) -> FloatsXd:
    is_usable = weights.flags.c_contiguous and getattr(weights.flags, "writeable", True)
    return weights if is_usable else weights.copy(order="C")
