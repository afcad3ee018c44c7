"""Saved weights, and settings that do not belong to them: refused before memory is taken or time is spent."""

import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import torch
from torch import nn
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from ...lexicon.array_file import read_places
from ...lexicon.errors import LexiconError
from ...tensors.convert import numpy_of

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
SIZES = {name: dtype.itemsize for name, dtype in DTYPES.items()}
NAMED = 4  # problems in an error
ROOM = 10_000  # parameters and modules that a small model may make


def check_plain(settings: Any) -> None:
    """Raise ValueError unless settings survive JSON unchanged."""
    try:
        is_plain = json.loads(json.dumps(settings, allow_nan=False)) == settings
    except (TypeError, ValueError):
        is_plain = False
    if not is_plain:
        raise ValueError(
            "the settings of a torch module must be plain JSON: string keys, lists (no tuples), finite numbers, null"
        )


def find_aliases(weights: Mapping[str, torch.Tensor]) -> Dict[str, str]:
    """RETURNS (Dict[str, str]): The weights that share their memory with an earlier one, and the name of that one."""
    kept: Dict[Any, str] = {}
    aliases: Dict[str, str] = {}
    for name, tensor in weights.items():
        first = kept.setdefault((tensor.data_ptr(), tensor.shape, tensor.stride()), name)
        if tensor.numel() and first != name:
            aliases[name] = first
    return aliases


def read_weights(data: bytes) -> Dict[str, torch.Tensor]:
    """The weights in a safetensors file, whose header is checked against its size before memory is taken. Raises
    ValueError if it is damaged, or has a value that is not finite."""
    try:
        places, _, body = read_places(np.frombuffer(data, "u1"), "the weights", SIZES)
    except LexiconError as error:
        raise ValueError(
            f"The weights of the torch module cannot be read ({error}): the saved model is truncated or damaged."
        ) from None
    weights: Dict[str, torch.Tensor] = {}
    for name, place in places.items():
        weights[name] = torch.empty(place.shape, dtype=DTYPES[place.dtype])
        numpy_of(weights[name].reshape(-1).view(torch.uint8))[:] = body[place.begin : place.end]
        # A sum needs no memory and little time; it is not finite if a value is not, or if large ones add up.
        is_finite = not weights[name].is_floating_point() or weights[name].sum().isfinite()
        if not is_finite and not weights[name].isfinite().all():
            raise ValueError(f"the weight {name} has values that are not finite: damaged, or training diverged")
    return weights


def build_empty(build: Callable[[Dict[str, Any]], nn.Module], settings: Dict[str, Any], n_saved: int) -> nn.Module:
    """A module whose weights have shapes and no memory.

    build (Callable[[Dict[str, Any]], nn.Module]): Builds the module.
    settings (Dict[str, Any]): Its settings.
    n_saved (int): How many weights were saved. Raises ValueError as soon as the module has many more parts than that: a
        forged number of layers would keep the process busy for hours.
    """
    limit = ROOM + 10 * n_saved
    n_made = 0

    def count(*made: Any) -> None:
        nonlocal n_made
        n_made += 1
        if n_made > limit:
            raise ValueError(f"the settings describe many more weights than the {n_saved} that were saved")

    hooks = [register_module_parameter_registration_hook(count), register_module_module_registration_hook(count)]
    try:
        with torch.device("meta"):
            return build(settings)
    finally:
        for hook in hooks:
            hook.remove()


def assign_weights(module: nn.Module, state: Mapping[str, torch.Tensor], aliases: Mapping[str, str]) -> None:
    """Give a module from `build_empty` its weights. `aliases` names weights that share their memory with another one;
    those that are one and the same in the module stay so."""
    parts = {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }
    same = {name: kept for name, kept in aliases.items() if parts[name] is parts[kept]}
    module.load_state_dict(state, assign=True)
    for name, kept in same.items():
        path, _, leaf = name.rpartition(".")
        kept_path, _, kept_leaf = kept.rpartition(".")
        setattr(module.get_submodule(path), leaf, getattr(module.get_submodule(kept_path), kept_leaf))


def is_whole(module: nn.Module) -> bool:
    """RETURNS (bool): Whether every tensor of a module from `build_empty` has memory. Those that are not saved do
    not."""
    parts = (value for part in module.modules() for value in vars(part).values())
    tensors = (*module.parameters(), *module.buffers(), *parts)
    return not any(isinstance(value, torch.Tensor) and value.is_meta for value in tensors)


def find_mismatch(
    found: Mapping[str, Sequence[int]], expected: Mapping[str, Sequence[int]], *, derived: Tuple[str, ...] = ()
) -> Optional[str]:
    """Compare the weights that a file has with those that a module expects, given names and shapes: the first few
    problems, or None. Names that end in one of `derived` hold no weights: they may be missing or superfluous."""
    problems: List[str] = [f"{name} is missing" for name in expected if not (name in found or name.endswith(derived))]
    problems += [f"{name} is not known" for name in found if not (name in expected or name.endswith(derived))]
    problems += [
        f"{name} has shape {list(found[name])} instead of {list(shape)}"
        for name, shape in expected.items()
        if name in found and list(found[name]) != list(shape)
    ]
    if not problems:
        return None
    return "; ".join(problems[:NAMED]) + (f"; and {len(problems) - NAMED} more" if len(problems) > NAMED else "")


def check_shapes(found: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor]) -> None:
    """Raise ValueError unless saved weights have the names and shapes of those of a module."""
    shapes = ({name: tensor.shape for name, tensor in tensors.items()} for tensors in (found, expected))
    problem = find_mismatch(*shapes)
    if problem is not None:
        raise ValueError(
            f"The saved weights do not fit the model of the config: {problem}. Load it with the config it was saved "
            "with."
        )


def check_dtypes(found: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor]) -> None:
    """Raise ValueError unless saved weights are numbers of the same kind as those of a module, which has them all."""
    for name, tensor in found.items():
        if tensor.dtype != expected[name].dtype:
            raise ValueError(f"the weight {name} is made of {tensor.dtype}; expected {expected[name].dtype}")


def check_ids(ids: Mapping[str, int], n_known: int, what: str) -> None:
    """Raise ValueError unless ids, by name, are numbers of the `n_known` rows of a table."""
    for name, value in ids.items():
        if type(value) is not int or not 0 <= value < n_known:
            raise ValueError(f"the id of {name} is {_shown(value)}, but there are {n_known} {what}, from 0 on")


def _shown(value: Any) -> str:
    return "too large" if isinstance(value, int) and value.bit_length() > 64 else repr(value)[:80]
