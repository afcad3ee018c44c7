"""What encoders of wordpieces share: Docs go through a torch module in padded batches of windows, and come out as one
vector for each token.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Protocol, Tuple, cast

import numpy as np
from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Model
from thinc.types import Floats2d
from thinc.util import torch2xp, xp2torch
from transformers import PreTrainedModel

from .bert_shaped import max_length
from .padding import batch_by_padding
from .shim import ModuleShim
from .windows import Windows, cut_windows
from .wordpieces import Wordpieces, load_wordpieces

Encoder = Model[List[Doc], List[Floats2d]]
N_SPECIAL = 2  # [CLS] and [SEP] stand around every window


class PaddedBatch(Protocol):
    """A batch of windows, ready for a module.

    batch (Any): Its tensors.
    pieces (numpy.ndarray): int64[N], to which wordpiece each vector belongs that the module gives.
    """

    @property
    def batch(self) -> Any: ...
    @property
    def pieces(self) -> np.ndarray: ...


BatchMaker = Callable[[Encoder, List[Doc], np.ndarray, np.ndarray], Iterator[PaddedBatch]]


@dataclass(frozen=True)
class WindowOptions:
    """How long Docs are read. Nothing of it is part of the weights.

    window (Optional[int]): Most wordpieces of a window; None for all that the encoder reads at once.
    stride (Optional[int]): How far windows of a longer Doc lie apart; None for three quarters of a window.
    max_batch_tokens (int): Most wordpieces, padding included, of a batch of windows.
    """

    window: Optional[int] = None
    stride: Optional[int] = None
    max_batch_tokens: int = 4096

    def __post_init__(self) -> None:
        for name in ("window", "stride", "max_batch_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} = {value} is out of range: it must be at least 1.")

    def cut(self, lengths: np.ndarray, encoder: PreTrainedModel) -> Windows:
        """Cut sequences of wordpieces into windows.

        lengths (numpy.ndarray): int[n], their lengths.
        encoder (PreTrainedModel): The text model, which sets the limit.
        RETURNS (Windows): The windows. Raises ValueError where the settings do not fit the encoder.
        """
        limit = max_length(encoder) - N_SPECIAL
        window = limit if self.window is None else self.window
        if window > limit:
            raise ValueError(
                f"window = {window} is out of range: the encoder has {limit + N_SPECIAL} positions, so a window has at "
                f"most {limit} wordpieces, without [CLS] and [SEP]."
            )
        return cut_windows(lengths, window, max(1, window * 3 // 4) if self.stride is None else self.stride)

    def batches(self, docs: List[Doc], counts: np.ndarray, encoder: PreTrainedModel) -> Iterator[Windows]:
        """Cut Docs into windows and put windows of similar length together.

        docs (List[Doc]): The Docs.
        counts (numpy.ndarray): int64[n_tokens], wordpieces of each token, over all Docs.
        encoder (PreTrainedModel): The text model.
        YIELDS (Windows): The windows of each batch.
        """
        windows = self.cut(np.diff(piece_borders(docs, counts)), encoder)
        for index in batch_by_padding(windows.ends - windows.starts + N_SPECIAL, self.max_batch_tokens):
            yield Windows(*(field[index] for field in windows))


def PieceEncoder(
    name: str,
    shim: ModuleShim,
    make_batches: BatchMaker,
    init: Callable,
    *,
    layers: List[Model],
    attrs: Dict[str, Any],
    width: Optional[int],
) -> Encoder:
    """Create the layer around a torch module.

    name (str): Name of the node.
    shim (ModuleShim): Holds the module, which takes a list of batches and gives the vectors that these keep.
    make_batches (Callable): Makes the batches of Docs, given their wordpieces and the number of these per token. A
        module-level function: it is copied and pickled with the model.
    init (Callable): Builds the module.
    layers (List[Model]): The nodes that find words or entities in Docs.
    attrs (Dict[str, Any]): Whatever `make_batches` and `init` need.
    width (Optional[int]): Width of the vectors, if known yet.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer, one row per token.
    """
    attrs = {**attrs, "make_batches": make_batches}
    return Model(name, forward, init=init, layers=layers, shims=[shim], dims={"nO": width}, attrs=attrs)


def forward(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[List[Floats2d], Callable]:
    """Encode Docs: the vector of a token is the mean of its wordpieces' vectors."""
    pieces, backprop_pieces = encode_pieces(model, docs, is_train)
    tokens, backprop_tokens = pool_tokens(model, pieces)
    borders = np.cumsum([0, *(len(doc) for doc in docs)]).tolist()

    def backprop(gradients: List[Floats2d]) -> List[Doc]:
        if len(pieces.ids):
            backprop_pieces(backprop_tokens(model.ops.xp.concatenate(gradients)))
        return []

    return [tokens[begin:end] for begin, end in pairwise(borders)], backprop


class PieceVectors(NamedTuple):
    """The wordpieces of a batch of Docs, one after the other.

    vectors (Floats2d): Their vectors.
    ids (numpy.ndarray): int64[n_pieces].
    counts (numpy.ndarray): int64[n_tokens], pieces of each token.
    """

    vectors: Any
    ids: np.ndarray
    counts: np.ndarray


def encode_pieces(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[PieceVectors, Callable[[Any], None]]:
    """Encode Docs in padded batches of windows. In prediction these are made and run one after the other, so that
    memory is bounded by a batch and the result.

    model (Encoder): The layer.
    docs (List[Doc]): The Docs.
    is_train (bool): Whether a gradient will follow.
    RETURNS (Tuple[PieceVectors, Callable]): The vectors of all wordpieces, and a callback that takes their gradient.
    """
    ids, counts = wordpieces_of(model).encode(docs)
    batches = model.attrs["make_batches"](model, docs, ids, counts)
    vectors, backprop = encode_batches(model, batches, len(ids), is_train)
    return PieceVectors(vectors, ids, counts), backprop


def encode_batches(
    model: Encoder, batches: Iterable[PaddedBatch], n_rows: int, is_train: bool
) -> Tuple[Any, Callable[[Any], None]]:
    """Encode batches of windows.

    model (Encoder): The layer.
    batches (Iterable[PaddedBatch]): The batches; `pieces` tells the row of each vector.
    n_rows (int): The number of rows.
    is_train (bool): Whether a gradient will follow.
    RETURNS (Tuple[Floats2d, Callable]): The rows, and a callback that takes their gradient.
    """
    return _train(model, list(batches), n_rows) if is_train else _predict(model, batches, n_rows)


def wordpieces_of(model: Encoder) -> Wordpieces:
    """RETURNS (Wordpieces): The lookup of an initialised layer."""
    return load_wordpieces(settings_of(model)["wordpieces"])


def _predict(model: Encoder, batches: Iterable[PaddedBatch], n_rows: int) -> Tuple[Any, Callable]:
    pieces: Any = model.ops.alloc2f(n_rows, model.get_dim("nO"))
    for batch in batches:
        output = shim_of(model).predict(ArgsKwargs(args=([batch.batch],), kwargs={}))
        pieces[model.ops.xp.asarray(batch.pieces)] = torch2xp(output.float())
    return pieces, lambda gradient: None


def _train(model: Encoder, batches: List[PaddedBatch], n_rows: int) -> Tuple[Any, Callable]:
    """The batches go through the module in one call, since the shim unscales gradients once for each."""
    order = model.ops.xp.asarray(np.concatenate([np.zeros(0, "i8"), *(batch.pieces for batch in batches)]))
    pieces: Any = model.ops.alloc2f(n_rows, model.get_dim("nO"))
    if not batches:
        return pieces, lambda gradient: None
    inputs = ArgsKwargs(args=([batch.batch for batch in batches],), kwargs={})
    output, backprop_output = shim_of(model).begin_update(inputs)
    pieces[order] = torch2xp(output.detach().float())

    def backprop(gradient: Any) -> None:
        d_output = xp2torch(gradient[order], device=output.device).to(output.dtype)
        backprop_output(ArgsKwargs(args=((output,),), kwargs={"grad_tensors": (d_output,)}))

    return pieces, backprop


def pool_tokens(model: Encoder, pieces: PieceVectors) -> Tuple[Any, Callable[[Any], Any]]:
    """Give each token the mean of its wordpieces' vectors.

    model (Encoder): The layer.
    pieces (PieceVectors): The wordpieces.
    RETURNS (Tuple[Floats2d, Callable]): One row per token, and a callback that turns their gradient into the pieces'.
    """
    if len(pieces.ids) == len(pieces.counts):
        return pieces.vectors, lambda gradient: gradient
    ops, lengths = model.ops, model.ops.xp.asarray(pieces.counts.astype("i4"))
    return ops.reduce_mean(pieces.vectors, lengths), lambda gradient: ops.backprop_reduce_mean(gradient, lengths)


def piece_borders(docs: List[Doc], counts: np.ndarray) -> np.ndarray:
    """Find where the wordpieces of each Doc begin.

    docs (List[Doc]): The Docs.
    counts (numpy.ndarray): int64[n_tokens], wordpieces of each token, over all Docs.
    RETURNS (numpy.ndarray): int64[n_docs + 1], the first wordpiece of each Doc, and one past the last.
    """
    ends = np.concatenate([np.zeros(1, "i8"), np.cumsum(counts)])
    return ends[np.cumsum([0, *(len(doc) for doc in docs)])]


def shim_of(model: Encoder) -> ModuleShim:
    """RETURNS (ModuleShim): The holder of the layer's module."""
    return cast(ModuleShim, model.shims[0])


def settings_of(model: Encoder) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The settings that the module was built from. Raises ValueError before it is built."""
    assert shim_of(model).module is not None
    return cast(Dict[str, Any], shim_of(model).settings)
