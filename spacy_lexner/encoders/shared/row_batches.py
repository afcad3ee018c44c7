"""Running a torch module over padded batches whose rows belong to one array: characters or tokens of all Docs."""

from typing import Any, Callable, Iterable, NamedTuple, Tuple, cast

import numpy as np
import torch
from thinc.api import ArgsKwargs, Model
from thinc.util import torch2xp, xp2torch

from .shim import ModuleShim


class RowBatch(NamedTuple):
    """A padded batch, ready for a module.

    batch (Any): Its tensors.
    rows (numpy.ndarray): int64[K], to which row each vector belongs that the module gives.
    """

    batch: Any
    rows: np.ndarray


def run_batches(
    model: Model, batches: Iterable[RowBatch], n_rows: int, is_train: bool, *given: Any
) -> Tuple[Any, Callable[[Any], Any]]:
    """Run a layer's module, which takes a list of batches and what else is given, and gives the vectors of their rows.

    In prediction batches are made and run one after the other, so that memory is bounded. In training all go through
    the module in one call, since the shim unscales gradients once for each.

    model (Model): The layer, with its ModuleShim and the dimension `nO`.
    batches (Iterable[RowBatch]): The batches. Together they have each row once.
    n_rows (int): The number of rows.
    is_train (bool): Whether a gradient will follow.
    given (Any): An array that all batches read from, if any; None counts as an argument.
    RETURNS (Tuple[Any, Callable]): The vectors, float [n_rows, nO], and a callback that takes their gradient and gives
        that of the array given.
    """
    vectors: Any = model.ops.alloc2f(n_rows, model.get_dim("nO"))
    shim, xp = cast(ModuleShim, model.shims[0]), model.ops.xp
    tensors = tuple(None if x is None else xp2torch(x, requires_grad=is_train, device=shim.device) for x in given)
    if not is_train:
        for batch in batches:
            output = shim.predict(ArgsKwargs(args=([batch.batch], *tensors), kwargs={}))
            vectors[xp.asarray(batch.rows)] = torch2xp(output.float())
        return vectors, lambda gradient: None
    made = list(batches)
    if not made:
        return vectors, lambda gradient: None
    order = xp.asarray(np.concatenate([batch.rows for batch in made]))
    output, backprop_output = shim.begin_update(ArgsKwargs(args=([batch.batch for batch in made], *tensors), kwargs={}))
    vectors[order] = torch2xp(output.detach().float())

    def backprop(gradient: Any) -> Any:
        d_output = xp2torch(gradient[order], device=output.device).to(output.dtype)
        backprop_output(ArgsKwargs(args=((output,),), kwargs={"grad_tensors": (d_output,)}))
        return next((torch2xp(cast(torch.Tensor, x.grad)) for x in tensors if x is not None), None)

    return vectors, backprop


def pool_tokens(model: Model, vectors: Any, counts: np.ndarray) -> Tuple[Any, Callable[[Any], Any]]:
    """Take the mean over the rows of each token.

    model (Model): The layer.
    vectors (Any): Float [n_rows, nO].
    counts (numpy.ndarray): int64[n_tokens], rows of each token.
    RETURNS (Tuple[Any, Callable]): Float [n_tokens, nO], and a callback from its gradient to that of the rows.
    """
    if (counts == 1).all():
        return vectors, lambda gradient: gradient
    ops, lengths = model.ops, model.ops.xp.asarray(counts.astype("i4"))
    return ops.reduce_mean(vectors, lengths), lambda gradient: ops.backprop_reduce_mean(gradient, lengths)
