"""The state of a training run besides its pipeline: random states, and an optimiser's moments and averages."""

import random
from typing import Any, Dict, Iterable, Iterator, List, Tuple

import numpy as np
import torch
from thinc.api import Model, Optimizer, get_current_ops
from thinc.optimizers import KeyT
from thinc.util import has_cupy_gpu, to_numpy

from .optimizers.grouped_optimizer import GroupedOptimizer

MOMENTS = ("mom1", "mom2", "averages")
ArraysT = Dict[str, np.ndarray]


def random_state() -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The states of Python's, numpy's and torch's random numbers, ready for JSON. CuPy's
    state cannot be read, so it is seeded from numpy's, both here and when this state is restored."""
    state = {
        "python": python_state(random),
        "numpy": numpy_state(),
        "torch": torch_state(),
        "cuda": [each.tolist() for each in torch.cuda.get_rng_state_all()] if torch.cuda.is_available() else [],
    }
    _seed_cupy()
    return state


def set_random_state(state: Dict[str, Any]) -> None:
    """Restore what `random_state` returned."""
    set_python_state(random, state["python"])
    set_numpy_state(state["numpy"])
    set_torch_state(state["torch"])
    if torch.cuda.is_available() and len(state["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all([torch.tensor(each, dtype=torch.uint8) for each in state["cuda"]])
    _seed_cupy()


def python_state(source: Any) -> List[Any]:
    """RETURNS (List[Any]): The state of the module `random`, or of one of its generators, plain JSON."""
    version, keys, gauss = source.getstate()
    return [version, list(keys), gauss]


def set_python_state(source: Any, state: List[Any]) -> None:
    """Restore what `python_state` returned."""
    version, keys, gauss = state
    source.setstate((version, tuple(keys), gauss))


def numpy_state() -> List[Any]:
    """RETURNS (List[Any]): The state of numpy's global random numbers, plain JSON."""
    name, keys, *rest = np.random.get_state()
    return [name, np.asarray(keys).tolist(), *rest]


def set_numpy_state(state: List[Any]) -> None:
    """Restore what `numpy_state` returned."""
    name, keys, *rest = state
    np.random.set_state((name, np.array(keys, dtype="uint32"), *rest))


def torch_state() -> List[int]:
    """RETURNS (List[int]): The state of torch's random numbers on the CPU."""
    return torch.get_rng_state().tolist()


def set_torch_state(state: List[int]) -> None:
    """Restore what `torch_state` returned."""
    torch.set_rng_state(torch.tensor(state, dtype=torch.uint8))


def _seed_cupy() -> None:
    if has_cupy_gpu:
        import cupy

        _, keys, place, *_ = numpy_state()
        cupy.random.seed((keys[0] + place) % 2**32)


def save_optimizer(optimizer: Optimizer, models: Iterable[Tuple[str, Model]]) -> Tuple[ArraysT, Dict[str, int]]:
    """Extract the state of an optimiser.

    optimizer (Optimizer): The optimiser.
    models (Iterable[Tuple[str, Model]]): The models that it updates, by name.
    RETURNS (Tuple[Dict[str, ndarray], Dict[str, int]]): Moments and averages, and the number of updates, by parameter
        names that are the same in every process.
    """
    arrays: ArraysT = {}
    counts: Dict[str, int] = {}
    if isinstance(optimizer, GroupedOptimizer):
        optimizer.settle()
    moments = {moment: getattr(optimizer, moment) or {} for moment in MOMENTS}
    for key, name in parameter_keys(models):
        if key in optimizer.nr_update:
            counts[name] = optimizer.nr_update[key]
        for moment, values in moments.items():
            if key in values:
                arrays[f"{moment}/{name}"] = np.ascontiguousarray(to_numpy(values[key]))
    return arrays, counts


def load_optimizer(
    optimizer: Optimizer, models: Iterable[Tuple[str, Model]], arrays: ArraysT, counts: Dict[str, int]
) -> None:
    """Restore the state from `save_optimizer` in a new optimiser. Raises ValueError for parameters that the models
    lack."""
    keys = {name: key for key, name in parameter_keys(models)}
    if foreign := sorted(counts.keys() - keys.keys()):
        raise ValueError(
            f"The saved optimiser has the parameter {foreign[0]!r}, which the models lack: another version saved it, "
            "or they were built differently. Resume with that version, or start the run again."
        )
    moments = {moment: getattr(optimizer, moment) for moment in MOMENTS}
    for name, key in keys.items():
        if name in counts:
            optimizer.nr_update[key] = counts[name]
        for moment, values in moments.items():
            array = arrays.get(f"{moment}/{name}")
            if values is not None and array is not None:
                values[key] = get_current_ops().asarray(np.array(array))  # type: ignore[arg-type]


def gradient_names(models: Iterable[Tuple[str, Model]]) -> List[str]:
    """RETURNS (List[str]): The parameters of thinc's layers that have a gradient. After an update it is zero, which
    still matters: momentum moves parameters with a zero gradient, but not those without one."""
    nodes = _nodes(models)
    return [f"{place}/{name}" for place, node in nodes for name in node.param_names if node.has_grad(name)]


def set_gradients(models: Iterable[Tuple[str, Model]], names: Iterable[str]) -> None:
    """Give parameters of thinc's layers, named by `gradient_names`, a gradient of zero."""
    wanted = set(names)
    for place, node in _nodes(models):
        for name in node.param_names:
            if f"{place}/{name}" in wanted:
                node.set_grad(name, node.ops.xp.zeros_like(node.get_param(name)))


def parameter_keys(models: Iterable[Tuple[str, Model]]) -> Iterator[Tuple[KeyT, str]]:
    """YIELDS (Tuple[Tuple[int, str], str]): The optimiser's key for each parameter, and its name."""
    for place, node in _nodes(models):
        for name in node.param_names:
            yield (node.id, name), f"{place}/{name}"
        for i, shim in enumerate(node.shims):
            for name in _module_parameters(shim):
                yield (shim.id, name), f"{place}/{i}/{name}"


def _nodes(models: Iterable[Tuple[str, Model]]) -> Iterator[Tuple[str, Model]]:
    return ((f"{component}/{i}", node) for component, model in models for i, node in enumerate(model.walk()))


def _module_parameters(shim: Any) -> List[str]:
    module = shim._model
    return [name for name, _ in module.named_parameters()] if isinstance(module, torch.nn.Module) else []
