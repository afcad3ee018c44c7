"""Checking a saved model against the one that the config describes, before anything is replaced.

thinc loads whatever it finds: weights of other types and shapes, attributes of other types and references to other
nodes fail, if at all, only at the first text.
"""

from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np
import srsly
from thinc.api import Model, serialize_attr

from ..candidates.lexicon_node import TRAINED, is_description
from ..candidates.limits import are_limits
from ..lexicon.limits import quote, shorten
from .settings import is_flag, is_number

Shape = Tuple[Optional[int], ...]  # None: any
# Attributes that determine how a node works. The config sets them, so another value belongs to another config.
FIXED = {"column", "columns", "labels", "nodes", "overlaps", "pad", "reads_tokens", "source", "window_size"}


def _is_rate(node: Model, value: Any) -> bool:
    return is_number(value, 0, 1)


def _is_count(node: Model, value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


CHANGED: Dict[str, Callable[[Model, Any], bool]] = {  # attributes that training or the user changes, and their checks
    "dropout_rate": _is_rate,
    "is_enabled": lambda node, value: is_flag(value),
    "limits": lambda node, value: value is None or are_limits(value),
    "n_updates": _is_count,
    "own_dropout": lambda node, value: value is None or is_number(value, 0, 1),
    "seed": lambda node, value: type(value) is int and 0 <= value < 2**32,
    "turn": lambda node, value: _is_count(node, value) and value < len(node.layers),
    TRAINED: lambda node, value: value is None or is_description(value),
}
DENSE = {"W": ("nO", "nI"), "b": ("nO",)}
SHAPES: Dict[str, Dict[str, Tuple[str, ...]]] = {  # by node name and parameter: its shape, as dimensions of the node
    **dict.fromkeys(["clipped_linear", "gelu", "hardswish", "linear", "mish", "relu", "softmax", "swish"], DENSE),
    "embed": {"E": ("nV", "nO")},
    "hashembed": {"E": ("nV", "nO")},
    "layernorm": {"G": ("nI",), "b": ("nI",)},
    "maxout": {"W": ("nO", "nP", "nI"), "b": ("nO", "nP")},
    "static_vectors": {"W": ("nO", "nM")},
    "tagger_output": {"emission_W": ("nO", "nI"), "emission_b": ("nO",), "transitions": ("nO + 1", "nO + 1")},
}


def load_model(model: Model, data: bytes) -> None:
    """Load a model from the bytes that thinc saved.

    model (Model): The model that the config describes.
    data (bytes): The bytes. Raises ValueError, naming the part, if they do not hold such a model.
    """
    message = srsly.msgpack_loads(data)
    nodes = list(model.walk())
    columns = [message[key] for key in ("nodes", "attrs", "params", "shims")]
    if not all(isinstance(column, list) and len(column) == len(nodes) for column in columns):
        raise ValueError(f"mismatched structure: the model of the config has {len(nodes)} parts, the saved one others")
    for number, (node, info, attrs, params, shims) in enumerate(zip(nodes, *columns)):
        try:
            info["name"] = node.name  # names come from the config
            _check_dims(node, info["dims"])
            _check_refs(node, info["refs"], nodes)
            _check_params(node, params, {**_dims(node), **{name: n for name, n in info["dims"].items() if n}})
            known = [name for name in attrs if _saves(node, name)]  # others are from another version
            message["attrs"][number] = {name: _checked(node, name, attrs[name]) for name in known}
            if len(shims) != len(node.shims):
                raise ValueError(f"{len(shims)} torch modules instead of {len(node.shims)}")
        except ValueError as error:
            raise ValueError(f"part {number} of the model, {shorten(node.name)}: {error}") from None
    model.from_dict(message)
    _check_complete(nodes)


def _dims(node: Model) -> Dict[str, Optional[int]]:
    return {name: node.maybe_get_dim(name) for name in node.dim_names}


def _check_dims(node: Model, dims: Mapping[str, Any]) -> None:
    for name, size in dims.items():
        if name not in node.dim_names or not (size is None or _is_count(node, size)):
            raise ValueError(f"the dimension {quote(name)} is {quote(size)}; expected a size of {node.dim_names}")


def _check_refs(node: Model, refs: Mapping[str, Any], nodes: Sequence[Model]) -> None:
    for name, index in refs.items():
        own = node.maybe_get_ref(name)
        is_place = type(index) is int and 0 <= index < len(nodes)
        if not (index is None and own is None) and not (is_place and own in (None, nodes[index])):
            raise ValueError(f"the reference {quote(name)} leads to {quote(index)}, which is another part")


def _check_params(node: Model, params: Mapping[str, Any], dims: Mapping[str, Optional[int]]) -> None:
    for name, value in params.items():
        if name not in node.param_names:
            raise ValueError(f"the parameter {quote(name)} is not known")
        if value is None:
            continue
        if not isinstance(value, np.ndarray) or value.dtype != np.float32:
            kind = getattr(value, "dtype", type(value).__name__)
            raise ValueError(f"the parameter {name} is of type {kind}; expected an array of float32")
        named = SHAPES.get(node.name, {}).get(name)
        if named is not None and not _fits(value.shape, tuple(_size(part, dims) for part in named)):
            raise ValueError(f"the parameter {name} has shape {value.shape}; expected ({', '.join(named)}) of {dims}")
        if not np.isfinite(value).all():
            raise ValueError(f"the parameter {name} has values that are not finite: damaged, or training diverged")


def _size(part: str, dims: Mapping[str, Optional[int]]) -> Optional[int]:
    name, _, more = part.partition(" + ")
    size = dims.get(name)
    return None if size is None else size + int(more or 0)


def _fits(shape: Tuple[int, ...], expected: Shape) -> bool:
    return len(shape) == len(expected) and all(size in (None, own) for own, size in zip(shape, expected))


def _saves(node: Model, name: str) -> bool:
    """Whether thinc saves an attribute of a node: it skips functions and objects."""
    try:
        return name in node.attrs and bool(serialize_attr(node.attrs[name], node.attrs[name], name, node))
    except TypeError:
        return False


def _checked(node: Model, name: str, saved: bytes) -> bytes:
    """Return a saved attribute. Raises ValueError if the node cannot have this value."""
    own = node.attrs[name]
    if not _is_plain(own):
        return saved
    value = srsly.msgpack_loads(saved)
    if name in CHANGED:
        is_good = CHANGED[name](node, value)
    elif name in FIXED:
        is_good = saved == serialize_attr(own, own, name, node)
    else:
        is_good = own is None or _kind(value) == _kind(own)
    if not is_good:
        raise ValueError(f"the attribute {name} is {quote(value)}; in a model of this config it is {quote(own)}")
    return saved


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, list, tuple, dict))


def _kind(value: Any) -> Any:
    kinds = {bool: bool, int: float, float: float, tuple: list}
    return kinds.get(type(value), type(value))


def _check_complete(nodes: Sequence[Model]) -> None:
    """Raise ValueError for a model that has weights in some parts and lacks them in others."""
    lacking = [node for node in nodes if not all(map(node.has_param, node.param_names))]
    lacking += [node for node in nodes if not all(getattr(shim, "is_initialized", True) for shim in node.shims)]
    has_any = any(node.has_param(name) for node in nodes for name in node.param_names)
    if lacking and has_any:
        raise ValueError(f"the weights of the part {shorten(lacking[0].name)} are missing, but others are present")
