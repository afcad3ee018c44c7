"""A torch module inside a thinc model: built late, saved as safetensors, safe to copy and to share."""

import contextlib
import copy
import warnings
from typing import Any, Callable, Dict, Iterator, Optional, Sequence, cast

import srsly
import torch
from safetensors.torch import save as save_safetensors
from thinc.api import ArgsKwargs, Model, Optimizer, PyTorchShim
from thinc.shims import Shim
from thinc.util import get_torch_default_device

from ...tensors.convert import array_of, tensor_of, values_of
from . import forks, int8  # noqa: F401 (forks for its effect)
from .character_tables import TokenVectors
from .half_precision import gradient_scaler, half_precision
from .weights import (
    assign_weights,
    build_empty,
    check_dtypes,
    check_plain,
    check_shapes,
    find_aliases,
    is_whole,
    read_weights,
)
from .words import WordVectors

BuildT = Callable[[Dict[str, Any]], torch.nn.Module]


class ModuleShim(PyTorchShim):
    """Holds a torch module that is built from JSON settings, when a model is initialised or loaded, never in a
    constructor. Settings and weights are saved, so a saved pipeline needs no checkpoint, vocabulary file or training
    data to load. Predicting leaves the module in evaluation mode, so that threads may predict side by side."""

    def __init__(
        self,
        build: BuildT,
        *,
        reads: Sequence[str] = (),
        mixed_precision: bool = False,
        grad_scaler_config: Optional[Dict[str, Any]] = None,
    ) -> None:
        """`build` is a module-level function (it is copied and pickled with the model). `reads` names the settings
        without which the layer around the module cannot work. `mixed_precision` autocasts to the format of
        `half_precision`, if any, and scales gradients if it is float16. `grad_scaler_config` holds arguments of thinc's
        PyTorchGradScaler."""
        scaler = gradient_scaler(mixed_precision, grad_scaler_config)
        super().__init__(None, mixed_precision=mixed_precision, grad_scaler=scaler)
        self.build, self.reads = build, tuple(reads)
        self.settings: Optional[Dict[str, Any]] = None
        self._evaluates: Optional[torch.nn.Module] = None  # the module, once all of it is in evaluation mode

    @property
    def is_initialized(self) -> bool:
        return self._model is not None

    @property
    def module(self) -> torch.nn.Module:
        """RETURNS (torch.nn.Module): The module. Raises ValueError before it is initialised or loaded."""
        if self._model is None:
            raise ValueError(
                "The torch module has not been built yet: call nlp.initialize() or load a trained pipeline first."
            )
        return self._model

    def initialize(self, settings: Dict[str, Any]) -> torch.nn.Module:
        """Build the module on thinc's current device, in training mode. The settings are all that is saved beside the
        weights; raises ValueError unless they survive JSON unchanged."""
        check_plain(settings)
        self.settings = settings
        self._model = self.build(settings).to(get_torch_default_device())
        if self.in_int8:
            int8.quantize(self._model)
        return self._model

    @property
    def in_int8(self) -> bool:
        """RETURNS (bool): Whether the module computes in 8 bits."""
        return bool((self.settings or {}).get(int8.KEY))

    def quantize(self) -> None:
        """Let the module compute in 8 bits, from now on and when it is loaded again."""
        int8.quantize(self.module)
        self.settings = {**(self.settings or {}), int8.KEY: True}

    def _forward(self, inputs: ArgsKwargs) -> Any:
        half = half_precision(self.device) if self._mixed_precision else None
        exact = int8.SameInAnyBatch() if self.in_int8 else contextlib.nullcontext()
        with exact, torch.autocast(self.device.type, half, enabled=half is not None):
            return self.module(*inputs.args, **inputs.kwargs)

    def predict(self, inputs: ArgsKwargs) -> Any:
        self._stop_training()
        with torch.no_grad():
            return self._forward(inputs)

    def _stop_training(self) -> None:
        # The module's own flag changes before those of its parts: a thread that saw it would still use dropout.
        if self._evaluates is not self.module or self.module.training:
            self.module.eval()
            self._evaluates = self.module

    def begin_update(self, inputs: ArgsKwargs) -> Any:
        """Run the module for training; input tensors that require a gradient get one. The callback takes the output
        tensors and their gradients (`ArgsKwargs(args=(outputs,), kwargs={"grad_tensors": gradients})`), as
        torch.autograd.backward does. Raises ValueError for a module in 8 bits."""
        if self.in_int8:
            raise ValueError(
                "A quantised model cannot be trained: train the one that it was made of, and quantise that."
            )
        self._evaluates = None
        self.module.train()
        for part in self.module.modules():
            if isinstance(part, (TokenVectors, WordVectors)):
                part.sparse = True  # gradients of a batch's rows, not of whole tables
        output = self._forward(inputs)

        def backprop(grads: ArgsKwargs) -> ArgsKwargs:
            grads.kwargs["grad_tensors"] = self._grad_scaler.scale(grads.kwargs["grad_tensors"], inplace=True)
            # Those of earlier parts of an accumulated batch, too, since all are unscaled below.
            self._grad_scaler.scale(map(torch.atleast_1d, self._gradients()), inplace=True)
            torch.autograd.backward(*grads.args, **grads.kwargs)
            tensors = (x for x in (*inputs.args, *inputs.kwargs.values()) if isinstance(x, torch.Tensor))
            leaves = [x for x in tensors if x.requires_grad]
            gradients = [*self._gradients(), *(leaf.grad for leaf in leaves if leaf.grad is not None)]
            if self._grad_scaler.unscale(gradients):  # an overflow: this step is skipped, here and further down
                for leaf in leaves:
                    leaf.grad = None if leaf.grad is None else torch.zeros_like(leaf.grad)
            return inputs

        return output, backprop

    def _gradients(self) -> Iterator[torch.Tensor]:
        """YIELDS (torch.Tensor): The values of each parameter's gradient; a row of a table has one, even if autograd
        gave it several."""
        for parameter in self.module.parameters():
            if parameter.grad is not None:
                parameter.grad = parameter.grad.coalesce() if parameter.grad.is_sparse else parameter.grad
                yield values_of(parameter.grad)

    def finish_update(self, optimizer: Optimizer) -> None:
        """Let the optimiser change every parameter that has a gradient, known to it as `(shim id, parameter name)`. If
        it has a `max_grad_norm` above 0, the module's gradients are first clipped to that norm, unless it has clipped
        those of the whole model."""
        if self._model is None:
            return
        max_norm = 0.0 if getattr(optimizer, "is_clipped", False) else getattr(optimizer, "max_grad_norm", 0.0)
        if max_norm and not self._grad_scaler.found_inf:
            self._clip(max_norm)
        for name, parameter in self._model.named_parameters():
            gradient, parameter.grad = parameter.grad, None
            if gradient is None or self._grad_scaler.found_inf:
                continue
            key, weights = (self.id, name), array_of(parameter.data)
            if gradient.is_sparse and (update_rows := getattr(optimizer, "update_rows", None)):
                updated = update_rows(key, weights, array_of(gradient.indices()[0]), array_of(gradient.values()))
            else:
                updated, _ = optimizer(key, weights, array_of(gradient.to_dense()))
            data = tensor_of(updated, parameter.device)
            if data.data_ptr() != parameter.data_ptr():  # a view of a view of a view … would never be freed
                parameter.data = data
        self._grad_scaler.update()

    def _clip(self, max_norm: float) -> None:
        gradients = list(self._gradients())
        norm = torch.stack([torch.linalg.vector_norm(each) for each in gradients] or [torch.zeros(())]).norm()
        if not torch.isfinite(norm):
            warnings.warn(f"The gradients' norm is {norm}: this update is skipped.", RuntimeWarning, stacklevel=3)
            self.module.zero_grad()
        elif norm > max_norm:
            for gradient in gradients:
                gradient.mul_(max_norm / norm)

    @contextlib.contextmanager
    def use_params(self, params: Dict[Any, Any]) -> Iterator[None]:
        """Use averaged parameters for a while. thinc's own shim does nothing here: it looks for other keys than its
        optimiser uses."""
        own = {key[1]: value for key, value in params.items() if isinstance(key, tuple) and key[0] == self.id}
        parameters = dict(self._model.named_parameters()) if self._model is not None and own else {}
        backup = {name: parameters[name].data for name in own if name in parameters}
        for name in backup:
            parameters[name].data = tensor_of(own[name], parameters[name].device)
        try:
            yield
        finally:
            for name, data in backup.items():
                parameters[name].data = data

    def copy(self) -> "ModuleShim":
        """A deep copy with its own id, so that an optimiser never mixes up the two."""
        copied = copy.deepcopy(self)
        with Shim.global_id_lock:
            Shim.global_id += 1
            copied.id = Shim.global_id
        return copied

    def to_device(self, device_type: str, device_id: int) -> None:
        if self._model is not None:
            super().to_device(device_type, device_id)

    def to_bytes(self) -> bytes:
        if self._model is None:
            return srsly.msgpack_dumps({"settings": None})
        weights = int8.pack(self._model) if self.in_int8 else self._model.state_dict()
        aliases = find_aliases(weights)
        state = {name: tensor.contiguous().clone() for name, tensor in weights.items() if name not in aliases}
        return srsly.msgpack_dumps({"settings": self.settings, "aliases": aliases, "state": save_safetensors(state)})

    def adapt(self, saved: Dict[str, Any]) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The settings of the module for weights saved with others."""
        return saved

    def from_bytes(self, bytes_data: bytes) -> "ModuleShim":
        msg = srsly.msgpack_loads(bytes_data)
        if msg["settings"] is None:
            self.settings, self._model = None, None
            return self
        check_plain(msg["settings"])
        if missing := [name for name in self.reads if name not in msg["settings"]]:
            raise ValueError(f"the settings of the torch module lack {', '.join(missing)}")
        settings, state = self.adapt(msg["settings"]), read_weights(msg["state"])
        state.update({name: state[kept] for name, kept in msg["aliases"].items()})
        module = build_empty(self.build, settings, len(state))  # before memory is taken for forged sizes
        check_shapes({name: state[name] for name in state if not name.endswith(int8.SCALE)}, module.state_dict())
        if settings.get(int8.KEY):
            module = self.initialize(settings)
            check_shapes(state, int8.pack(module))
            int8.unpack(module, state)
        else:
            check_dtypes(state, module.state_dict())
            assign_weights(module, state, msg["aliases"])
            if is_whole(module):
                self.settings, self._model = settings, module.to(get_torch_default_device())
            else:
                self.initialize(settings).load_state_dict(state)
        self._stop_training()
        self._grad_scaler.to_(self.device)
        return self


def shim_of(model: Model) -> ModuleShim:
    """The shim of a layer around a torch module."""
    return cast(ModuleShim, model.shims[0])


def settings_of(model: Model) -> Dict[str, Any]:
    """The settings that a layer's module was built from. Raises ValueError before it is built."""
    assert shim_of(model).module is not None
    return cast(Dict[str, Any], shim_of(model).settings)
