"""Gradient clipping by the global norm, over all parameters of a thinc model and of the torch modules in it."""

import math
from typing import Dict, List

from thinc.model import Model
from thinc.shims import PyTorchShim
from thinc.types import FloatsXd
from thinc.util import get_array_module

from ...tensors.convert import array_of, values_of


def clip_gradients(model: Model, max_norm: float) -> float:
    """Scale the gradients of a model, in place, so that their global norm is at most `max_norm` > 0 (Pascanu et al.
    2013, Algorithm 1; as torch.nn.utils.clip_grad_norm_). Returns the norm before clipping. If it is not finite, all
    gradients are set to zero, and the caller should not step: with momentum, weights move even if gradients are
    zero."""
    if not max_norm > 0:
        raise ValueError(f"max_norm is {max_norm}; expected a number above 0. To clip nothing, do not call this.")
    gradients = get_gradients(model)
    if not gradients:
        return 0.0
    xp = get_array_module(gradients[0])
    flat = [xp.asarray(gradient, dtype="float32").ravel() for gradient in gradients]
    norm = math.sqrt(float(sum(xp.vdot(part, part).astype("float64") for part in flat)))
    if not math.isfinite(norm):
        for gradient in gradients:
            gradient.fill(0)
    elif norm > max_norm:
        for gradient in gradients:
            gradient *= max_norm / norm
    return norm


def get_gradients(model: Model) -> List[FloatsXd]:
    """The gradients of a model's layers and of the torch modules in its shims, each once, without copying; of sparse
    ones, the rows that they have."""
    gradients: Dict[int, FloatsXd] = {}
    for node in model.walk():
        for name in node.grad_names:
            gradient = node.get_grad(name)
            gradients[id(gradient)] = gradient
        for shim in node.shims:
            if isinstance(shim, PyTorchShim) and shim._model is not None:
                for parameter in shim._model.parameters():
                    if parameter.grad is not None:
                        gradients[id(parameter)] = array_of(values_of(parameter.grad))
    return list(gradients.values())
