"""The state of a pretraining run, saved with its encoder so that a resumed run continues exactly."""

import math
from random import Random
from typing import Any, Dict, Tuple

import numpy as np
import srsly
import torch
from safetensors.numpy import load as load_safetensors
from safetensors.numpy import save as save_safetensors
from thinc.api import Model, Optimizer
from thinc.shims import Shim

from ..training.optimizers.clipping import clip_gradients
from ..training.run_state import (
    load_optimizer,
    python_state,
    random_state,
    save_optimizer,
    set_python_state,
    set_random_state,
)
from .parallel import average_gradients

STATE_KEY = "lexner_pretraining"


class PretrainingState(Shim):
    """Acts before every update: averages the gradients of the whole objective over processes, clips them, steps the
    optimiser's schedules, and records the state of the run.

    `spacy pretrain` never steps a schedule, and saves only the encoder. The first node of a model is updated first, so
    this shim belongs there. `rng` is the objective's own random numbers.
    """

    def __init__(self, rng: Random) -> None:
        super().__init__(None)
        self.rng = rng
        self.n_updates = 0
        self._saved_optimizer: Dict[str, Any] = {}
        self._saved_arrays: Dict[str, np.ndarray] = {}

    def bind(self, objective: Model, head: Model) -> None:
        """Set the whole model, which has this shim at its top node, and its heads, which spaCy does not save."""
        self._objective, self._head = objective, head
        self._models = [("objective", objective)]
        self._optimizer = None

    def finish_update(self, optimizer: Optimizer) -> None:
        """Prepare the optimiser and the gradients for an update. The optimiser's `max_grad_norm`, if it has one, bounds
        the global norm of all gradients; if that norm is not finite, the update is skipped."""
        if self._optimizer is None:
            self._optimizer = optimizer
            for _ in range(self.n_updates):
                optimizer.step_schedules()
            load_optimizer(optimizer, self._models, self._saved_arrays, self._saved_optimizer)
            self._saved_optimizer, self._saved_arrays = {}, {}
        elif self.n_updates:
            optimizer.step_schedules()
        self.n_updates += 1
        average_gradients(self._objective)
        max_norm = getattr(optimizer, "max_grad_norm", 0.0)
        if max_norm and not math.isfinite(clip_gradients(self._objective, max_norm)):
            _drop_gradients(self._objective)

    def to_bytes(self) -> bytes:
        """Save the heads' weights, the optimiser's moments, the number of updates and all random states."""
        arrays, counts = ({}, {}) if self._optimizer is None else save_optimizer(self._optimizer, self._models)
        state = {
            "n_updates": self.n_updates,
            "nr_update": counts,
            "objective": python_state(self.rng),
            "random": random_state(),
            "moments": save_safetensors(arrays),
            "head": self._head.to_bytes(),
        }
        return srsly.msgpack_dumps(state)

    def from_bytes(self, bytes_data: bytes) -> "PretrainingState":
        """Restore a saved run. The optimiser gets its moments back at the next update."""
        state = srsly.msgpack_loads(bytes_data)
        self._head.from_bytes(state["head"])
        self.n_updates = state["n_updates"]
        self._saved_optimizer = state["nr_update"]
        self._saved_arrays = load_safetensors(state["moments"])
        set_python_state(self.rng, state["objective"])
        set_random_state(state["random"])
        return self


class ResumableEncoder(Model):
    """An encoder that is saved together with the state of the run. The bytes are the encoder's with one more entry,
    which a plain encoder ignores, so they work for both `initialize.init_tok2vec` and `spacy pretrain
    --resume-path`."""

    def __init__(self, encoder: Model, state: PretrainingState) -> None:
        super().__init__("resumable_encoder", _pass_through, init=_init_layer, layers=[encoder])
        self.state = state

    def to_dict(self) -> Dict:
        return {**self.layers[0].to_dict(), STATE_KEY: self.state.to_bytes()}

    def from_dict(self, msg: Dict) -> "ResumableEncoder":
        self.layers[0].from_dict(msg)
        if STATE_KEY in msg:
            self.state.from_bytes(msg[STATE_KEY])
        return self


def _pass_through(model: Model, X: Any, is_train: bool) -> Tuple[Any, Any]:
    return model.layers[0](X, is_train)


def _init_layer(model: Model, X: Any = None, Y: Any = None) -> None:
    model.layers[0].initialize(X, Y)


def _drop_gradients(model: Model) -> None:
    for node in model.walk():
        for name in node.grad_names:
            node.set_grad(name, node.ops.alloc(node.get_param(name).shape))
        for shim in node.shims:
            if isinstance(shim._model, torch.nn.Module):
                shim._model.zero_grad(set_to_none=True)
