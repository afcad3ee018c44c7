"""Encoders of units. A unit is anything with a row in a torch module's output: a character, a wordpiece or a token.
Unit Docs go through the module in padded batches of windows, and the rows of their units are averaged for each token of
a Doc."""

from itertools import pairwise
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Model
from thinc.types import Floats2d

from ...candidates.batch_words import AttendedWords, expand_ranges, move_to_tokens
from ...candidates.unit_docs import UnitRanges, find_token_reader, make_unit_docs, units_of_tokens
from ...tensors.convert import array_of, tensor_of
from .shim import ModuleShim, shim_of

Encoder = Model[List[Doc], List[Floats2d]]


class UnitBatch(NamedTuple):
    """A padded batch, ready for a module."""

    batch: Any  # its tensors
    rows: np.ndarray  # int64[K], the unit, numbered over all Docs, of each vector that the module gives


class UnitRows(NamedTuple):
    """The rows of a batch of unit Docs, one Doc after the other."""

    rows: Any  # float[n_units, nO]
    counts: np.ndarray  # int64[n_tokens], the units of each token of these Docs


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
    encode_units (Callable): From the layer, unit Docs, and whether a gradient follows, to the rows of the Docs' units
        and a callback that takes their gradient. A module-level function: it is copied and pickled with the model.
    init (Callable): Builds the module.
    shim (ModuleShim): Holds it.
    nodes (Mapping[str, Model]): The layers that it reads from, see `node_of`.
    attrs (Mapping[str, Any]): What `encode_units` and `init` need. `attend_units`, if present, gives the attention of
        the tokens of unit Docs to words; `attend` then does so for any Docs.
    width (Optional[int]): Width of the rows; None if it is known only when the module is built.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer, one row per token.
    """
    attributes: Dict[str, Any] = {**attrs, "encode_units": encode_units, "nodes": list(nodes)}
    if "attend_units" in attrs:
        attributes["attend"] = attend
    layers = list(nodes.values())
    return Model(name, forward, init=init, layers=layers, shims=[shim], dims={"nO": width}, attrs=attributes)


def node_of(model: Encoder, name: str) -> Optional[Model]:
    """The layer that an encoder reads from, by its name; None if it has none. (thinc's own references are lost when a
    model is copied.)"""
    names: List[str] = model.attrs["nodes"]
    return model.layers[names.index(name)] if name in names else None


def forward(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[List[Floats2d], Callable]:
    """Encode Docs: the row of a token is the mean of its units' rows."""
    if not docs:
        return [], lambda gradients: []
    unit_docs = read_units(model, docs)
    units, backprop_units = model.attrs["encode_units"](model, unit_docs, is_train)
    tokens, backprop_tokens = pool_tokens(model, units, units_of_tokens(docs, unit_docs))

    def backprop(gradients: List[Floats2d]) -> List[Doc]:
        if len(units.rows):
            backprop_units(backprop_tokens(model.ops.xp.concatenate(gradients)))
        return []

    return split_by_length(tokens, docs), backprop


def read_units(model: Encoder, docs: List[Doc]) -> List[Doc]:
    """The Docs that an encoder reads: unit Docs, unless a part of it can only read the tokens as they are."""
    return docs if find_token_reader(model) is not None else make_unit_docs(docs)


def attend(model: Encoder, docs: List[Doc]) -> List[AttendedWords]:
    """The attention of each Doc's tokens to words. Runs the module."""
    unit_docs = read_units(model, docs)
    attended = model.attrs["attend_units"](model, unit_docs)
    return [move_to_tokens(own, doc, unit_doc) for own, doc, unit_doc in zip(attended, docs, unit_docs)]


def pool_tokens(model: Model, units: UnitRows, ranges: Optional[UnitRanges] = None) -> Tuple[Any, Callable[[Any], Any]]:
    """The mean over the units of each token, float[n_tokens, nO], and a callback from its gradient to the units'.
    `ranges` are the tokens of unit Docs that each token has, if the rows are those of other Docs."""
    ops, rows = model.ops, units.rows
    starts, counts = token_rows(units.counts, ranges)
    index = None if ranges is None else ops.xp.asarray(expand_ranges(starts, counts))
    if len(rows) == len(counts) and index is None:
        return rows, lambda gradient: gradient
    lengths = ops.xp.asarray(counts.astype("i4"))

    def backprop(gradient: Any) -> Any:
        d_rows = ops.backprop_reduce_mean(gradient, lengths)
        if index is None:
            return d_rows
        d_units = ops.xp.zeros_like(rows)
        ops.scatter_add(d_units, index, d_rows)
        return d_units

    return ops.reduce_mean(rows if index is None else rows[index], lengths), backprop


def token_rows(counts: np.ndarray, ranges: Optional[UnitRanges]) -> Tuple[np.ndarray, np.ndarray]:
    """The rows of each token: int64[n_tokens] first row, int64[n_tokens] how many. `counts` are the rows of each token
    of unit Docs, `ranges` those tokens' ranges, see `pool_tokens`."""
    borders = np.append(0, np.cumsum(counts))
    if ranges is None:
        return borders[:-1], counts
    return borders[ranges.starts], borders[ranges.ends] - borders[ranges.starts]


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
    leaf = None if given is None else tensor_of(given, shim.device).requires_grad_(is_train)
    extra = () if leaf is None else (leaf,)
    if not is_train:
        for batch in batches:
            output = shim.predict(ArgsKwargs(args=([batch.batch], *extra), kwargs={}))
            vectors[xp.asarray(batch.rows)] = array_of(output.float())
        return vectors, lambda gradient: None
    made = list(batches)
    if not made:
        return vectors, lambda gradient: None
    order = xp.asarray(np.concatenate([batch.rows for batch in made]))
    output, backprop_output = shim.begin_update(ArgsKwargs(args=([batch.batch for batch in made], *extra), kwargs={}))
    vectors[order] = array_of(output.detach().float())

    def backprop(gradient: Any) -> Any:
        d_output = tensor_of(gradient[order], output.device).to(output.dtype)
        backprop_output(ArgsKwargs(args=((output,),), kwargs={"grad_tensors": (d_output,)}))
        return None if leaf is None else array_of(cast(torch.Tensor, leaf.grad))

    return vectors, backprop
