"""LEBERT as a thinc layer: Docs in, one vector for each token out, whatever the length of the Doc."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple, cast

import numpy as np
from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Model
from thinc.types import Floats2d
from thinc.util import torch2xp, xp2torch

from ..lexicon.single_chars import SingleChars
from ..modules.bert_shaped import max_length
from ..modules.lebert import LEBERT, build_lebert
from .candidate_policy import Policy
from .lebert_batches import PaddedWindows, pad_windows, place_words
from .lebert_setup import LEBERTSetup
from .lexicon_node import LexiconCandidates
from .padding import batch_by_padding
from .shim import ModuleShim
from .training_texts import ATTRIBUTE, TrainingTexts
from .windows import Windows, cut_windows
from .word_table import WordTable
from .wordpieces import Wordpieces, load_wordpieces

Encoder = Model[List[Doc], List[Floats2d]]
N_SPECIAL = 2  # [CLS] and [SEP] stand around every window


@dataclass(frozen=True)
class LEBERTOptions:
    """How Docs reach the module. Nothing of it is part of the weights.

    max_words (int): Most candidate words of a token.
    policy (str): Which words these are, see `candidate_slots`.
    single_chars (str): Rule for words of one token, see `candidate_slots`.
    window (Optional[int]): Most wordpieces of a window; None for all that the encoder reads at once.
    stride (Optional[int]): How far windows of a longer Doc lie apart; None for three quarters of a window.
    max_batch_tokens (int): Most wordpieces, padding included, of a batch of windows.
    """

    max_words: int = 3
    policy: Policy = "start"
    single_chars: SingleChars = "keep"
    window: Optional[int] = None
    stride: Optional[int] = None
    max_batch_tokens: int = 4096

    def __post_init__(self) -> None:
        for name in ("max_words", "window", "stride", "max_batch_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} = {value} is out of range: it must be at least 1.")

    def cut(self, lengths: np.ndarray, module: LEBERT) -> Windows:
        """Cut sequences of wordpieces into windows.

        lengths (numpy.ndarray): int[n], their lengths.
        module (LEBERT): Its encoder sets the limit.
        RETURNS (Windows): The windows. Raises ValueError where the settings do not fit the encoder.
        """
        limit = max_length(module.encoder) - N_SPECIAL
        window = limit if self.window is None else self.window
        if window > limit:
            raise ValueError(
                f"window = {window} is out of range: the encoder has {limit + N_SPECIAL} positions, so a window has at "
                f"most {limit} wordpieces, without [CLS] and [SEP]."
            )
        return cut_windows(lengths, window, max(1, window * 3 // 4) if self.stride is None else self.stride)


def LEBERTEncoder(
    setup: LEBERTSetup,
    options: LEBERTOptions,
    *,
    mixed_precision: bool = False,
    grad_scaler_config: Optional[Dict[str, Any]] = None,
) -> Encoder:
    """Create the layer. The torch module is built when it is initialised or loaded.

    setup (LEBERTSetup): What the module is made of.
    options (LEBERTOptions): How Docs reach it.
    mixed_precision (bool): See ModuleShim.
    grad_scaler_config (Optional[Dict[str, Any]]): See ModuleShim.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer, one row per token.
    """
    shim = ModuleShim(build_lebert, mixed_precision=mixed_precision, grad_scaler_config=grad_scaler_config)
    attrs: Dict[str, Any] = {"setup": setup, "options": options}
    if setup.reads_tokens or setup.reads_texts:
        attrs[ATTRIBUTE] = TrainingTexts(tokens=setup.reads_tokens, texts=setup.reads_texts)
    return Model(
        "lebert",
        forward,
        init=init,
        layers=[LexiconCandidates()] if setup.adapter_layers else [],
        shims=[shim],
        dims={"nO": None if setup.checkpoint else setup.hidden_width},
        attrs=attrs,
    )


def init(model: Encoder, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    """Build the module, unless there is one: components and commands initialise a model more than once."""
    shim = _shim(model)
    texts = model.attrs.get(ATTRIBUTE) or TrainingTexts(tokens=False, texts=False)
    if not shim.is_initialized:
        matcher = None
        if model.layers:
            model.layers[0].predict([])  # raises where no lexicon is linked
            matcher = model.layers[0].attrs["link"].require().matcher
        module = model.attrs["setup"].build(shim, X or [], texts, matcher)
        model.attrs["options"].cut(np.zeros(0, "i8"), module)  # raises where window and stride do not fit
        model.set_dim("nO", module.encoder.config.hidden_size)
    texts.clear()


def forward(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[List[Floats2d], Callable]:
    """Encode Docs: the vector of a token is the mean of its wordpieces' vectors."""
    pieces, backprop_pieces = encode_pieces(model, docs, is_train)
    tokens, backprop_tokens = _pool(model, pieces)
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
    batches = _batches(model, docs, ids, counts)
    vectors, backprop = _train(model, list(batches)) if is_train else _predict(model, batches, len(ids))
    return PieceVectors(vectors, ids, counts), backprop


def wordpieces_of(model: Encoder) -> Wordpieces:
    """RETURNS (Wordpieces): The lookup of an initialised layer."""
    return load_wordpieces(_built(model)[1]["wordpieces"])


def _batches(model: Encoder, docs: List[Doc], ids: np.ndarray, counts: np.ndarray) -> Iterator[PaddedWindows]:
    """Padded batches of windows, windows of similar length together."""
    module, settings = _built(model)
    options = model.attrs["options"]
    words, table = None, None
    if model.layers:
        candidates = model.layers[0].predict(docs)
        table = WordTable.of(module.words, settings["lexicon_width"])
        for lexicon in {id(found.lexicon): found.lexicon for found in candidates}.values():
            table.check(lexicon)
        words = place_words(
            docs,
            candidates,
            counts,
            max_words=options.max_words,
            policy=options.policy,
            single_chars=options.single_chars,
        )
    piece_ends = np.concatenate([np.zeros(1, "i8"), np.cumsum(counts)])
    doc_ends = piece_ends[np.cumsum([0, *(len(doc) for doc in docs)])]
    windows = options.cut(np.diff(doc_ends), module)
    wordpieces = wordpieces_of(model)
    for index in batch_by_padding(windows.ends - windows.starts + N_SPECIAL, options.max_batch_tokens):
        chosen = Windows(*(field[index] for field in windows))
        yield pad_windows(chosen, ids, wordpieces, words, table, _shim(model).device)


def _predict(model: Encoder, batches: Iterable[PaddedWindows], n_pieces: int) -> Tuple[Any, Callable]:
    """The vectors of all wordpieces, in their order."""
    pieces: Any = model.ops.alloc2f(n_pieces, model.get_dim("nO"))
    for batch in batches:
        output = _shim(model).predict(ArgsKwargs(args=([batch.batch],), kwargs={}))
        pieces[model.ops.xp.asarray(batch.pieces)] = torch2xp(output.float())
    return pieces, lambda gradient: None


def _train(model: Encoder, batches: List[PaddedWindows]) -> Tuple[Any, Callable]:
    """The vectors of all wordpieces, in their order. The batches go through the module in one call, since the shim
    unscales gradients once for each."""
    order = model.ops.xp.asarray(np.concatenate([np.zeros(0, "i8"), *(batch.pieces for batch in batches)]))
    pieces: Any = model.ops.alloc2f(len(order), model.get_dim("nO"))
    if not batches:
        return pieces, lambda gradient: None
    inputs = ArgsKwargs(args=([batch.batch for batch in batches],), kwargs={})
    output, backprop_output = _shim(model).begin_update(inputs)
    pieces[order] = torch2xp(output.detach().float())

    def backprop(gradient: Any) -> None:
        d_output = xp2torch(gradient[order], device=output.device).to(output.dtype)
        backprop_output(ArgsKwargs(args=((output,),), kwargs={"grad_tensors": (d_output,)}))

    return pieces, backprop


def _pool(model: Encoder, pieces: PieceVectors) -> Tuple[Any, Callable]:
    if len(pieces.ids) == len(pieces.counts):
        return pieces.vectors, lambda gradient: gradient
    ops, lengths = model.ops, model.ops.xp.asarray(pieces.counts.astype("i4"))
    return ops.reduce_mean(pieces.vectors, lengths), lambda gradient: ops.backprop_reduce_mean(gradient, lengths)


def _shim(model: Encoder) -> ModuleShim:
    return cast(ModuleShim, model.shims[0])


def _built(model: Encoder) -> Tuple[LEBERT, Dict[str, Any]]:
    """The module and its settings. Raises ValueError where nothing has been built."""
    shim = _shim(model)
    return cast(LEBERT, shim.module), cast(Dict[str, Any], shim.settings)
