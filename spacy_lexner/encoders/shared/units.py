"""Encoders of units. A unit is what a torch module gives one row for: a character, a wordpiece or a token. Docs go
through the module in padded batches of windows, and the rows of its units are averaged for each token."""

from itertools import pairwise
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Model
from thinc.types import Floats2d
from thinc.util import torch2xp, xp2torch

from .shim import ModuleShim, shim_of

Encoder = Model[List[Doc], List[Floats2d]]


class UnitBatch(NamedTuple):
    """A padded batch, ready for a module."""

    batch: Any  # its tensors
    rows: np.ndarray  # int64[K], the unit, numbered over all Docs, of each vector that the module gives


class UnitRows(NamedTuple):
    """The rows of a batch of Docs, one Doc after the other."""

    rows: Any  # float[n_units, nO]
    counts: np.ndarray  # int64[n_tokens], the units of each token


EncodeUnits = Callable[[Encoder, List[Doc], bool], Tuple[UnitRows, Callable[[Any], Any]]]


def UnitEncoder(
    name: str,
    encode_units: EncodeUnits,
    init: Callable,
    shim: ModuleShim,
    *,
    nodes: Mapping[str, Model],
    attrs: Mapping[str, Any],
    width: Optional[int],
) -> Encoder:
    """Create the layer around a torch module.

    name (str): Name of the layer.
    encode_units (Callable): From the layer, Docs, and whether a gradient follows, to the rows of the Docs' units and a
        callback that takes their gradient. A module-level function: it is copied and pickled with the model.
    init (Callable): Builds the module.
    shim (ModuleShim): Holds it.
    nodes (Mapping[str, Model]): The layers that it reads from, see `node_of`.
    attrs (Mapping[str, Any]): What `encode_units` and `init` need.
    width (Optional[int]): Width of the rows; None if it is known only when the module is built.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer, one row per token.
    """
    attributes: Dict[str, Any] = {**attrs, "encode_units": encode_units, "nodes": list(nodes)}
    layers = list(nodes.values())
    return Model(name, forward, init=init, layers=layers, shims=[shim], dims={"nO": width}, attrs=attributes)


def node_of(model: Encoder, name: str) -> Optional[Model]:
    """The layer that an encoder reads from, by its name; None if it has none. (thinc's own references are lost when a
    model is copied.)"""
    names: List[str] = model.attrs["nodes"]
    return model.layers[names.index(name)] if name in names else None


def find_listener(model: Model) -> Optional[Model]:
    """The first node in a model that takes the vectors of a shared encoder, in spaCy or spacy-transformers; or None."""
    return next((node for node in model.walk() if hasattr(node, "receive")), None)


def forward(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[List[Floats2d], Callable]:
    """Encode Docs: the row of a token is the mean of its units' rows."""
    if not docs:
        return [], lambda gradients: []
    units, backprop_units = model.attrs["encode_units"](model, docs, is_train)
    tokens, backprop_tokens = pool_tokens(model, units)

    def backprop(gradients: List[Floats2d]) -> List[Doc]:
        if len(units.rows):
            backprop_units(backprop_tokens(model.ops.xp.concatenate(gradients)))
        return []

    return split_by_length(tokens, docs), backprop


def pool_tokens(model: Model, units: UnitRows) -> Tuple[Any, Callable[[Any], Any]]:
    """The mean over the units of each token, float[n_tokens, nO], and a callback from its gradient to the units'."""
    if len(units.rows) == len(units.counts):
        return units.rows, lambda gradient: gradient
    ops, lengths = model.ops, model.ops.xp.asarray(units.counts.astype("i4"))
    return ops.reduce_mean(units.rows, lengths), lambda gradient: ops.backprop_reduce_mean(gradient, lengths)


def split_by_length(rows: Any, docs: Sequence[Doc]) -> List[Any]:
    """Rows of tokens, Doc by Doc."""
    return [rows[begin:end] for begin, end in pairwise(np.cumsum([0, *map(len, docs)]).tolist())]


def run_batches(
    model: Model, batches: Iterable[UnitBatch], n_rows: int, is_train: bool, given: Any = None
) -> Tuple[Any, Callable[[Any], Any]]:
    """Send padded batches through a layer's module, which takes a list of them and gives the vectors that they keep. In
    prediction, batches are made and run one by one, so that memory is bounded. In training all go through the module in
    one call, since the shim unscales gradients once per call.

    model (Model): The layer, with its ModuleShim and the dimension `nO`.
    batches (Iterable[UnitBatch]): The batches. Together they have each of the `n_rows` rows once.
    is_train (bool): Whether a gradient will follow.
    given (Any): An array that all batches read from: the module's second argument, unless it is None.
    RETURNS (Tuple[Any, Callable]): The vectors, float[n_rows, nO], and a callback from their gradient to that of
        `given`.
    """
    shim, xp = shim_of(model), model.ops.xp
    vectors: Any = model.ops.alloc2f(n_rows, model.get_dim("nO"))
    leaf = None if given is None else xp2torch(given, requires_grad=is_train, device=shim.device)
    extra = () if leaf is None else (leaf,)
    if not is_train:
        for batch in batches:
            output = shim.predict(ArgsKwargs(args=([batch.batch], *extra), kwargs={}))
            vectors[xp.asarray(batch.rows)] = torch2xp(output.float())
        return vectors, lambda gradient: None
    made = list(batches)
    if not made:
        return vectors, lambda gradient: None
    order = xp.asarray(np.concatenate([batch.rows for batch in made]))
    output, backprop_output = shim.begin_update(ArgsKwargs(args=([batch.batch for batch in made], *extra), kwargs={}))
    vectors[order] = torch2xp(output.detach().float())

    def backprop(gradient: Any) -> Any:
        d_output = xp2torch(gradient[order], device=output.device).to(output.dtype)
        backprop_output(ArgsKwargs(args=((output,),), kwargs={"grad_tensors": (d_output,)}))
        return None if leaf is None else torch2xp(cast(torch.Tensor, leaf.grad))

    return vectors, backprop
