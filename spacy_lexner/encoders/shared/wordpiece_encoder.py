"""The base of wordpiece encoders: padded windows over the wordpieces of Docs, each with [CLS] and [SEP] around it."""

from dataclasses import dataclass
from typing import Any, Callable, Iterator, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model

from ...candidates.lexicon_node import find_lexicon_node, training_matcher
from ...candidates.training_texts import ATTRIBUTE, TrainingTexts
from ...tensors.convert import tensor_of
from .bert_setup import BertSetup
from .bert_shaped import max_length
from .shim import ModuleShim, settings_of, shim_of
from .units import Encoder, UnitBatch, UnitEncoder, UnitRows, run_batches
from .windows import Windows, batch_by_padding, cut_windows
from .wordpieces import Wordpieces, load_wordpieces

N_SPECIAL = 2  # [CLS] and [SEP] stand around every window
NO_ATTRIBUTES: Mapping[str, Any] = {}
MakeBatches = Callable[[Encoder, List[Doc], np.ndarray, np.ndarray, bool], Iterator[UnitBatch]]


@dataclass(frozen=True)
class WindowOptions:
    """Options for reading long Docs, see `build_lebert_v1`; independent of the weights."""

    window: Optional[int]
    stride: Optional[int]
    max_batch_tokens: int

    def __post_init__(self) -> None:
        for name in ("window", "stride", "max_batch_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} = {value} is out of range: it must be at least 1.")

    def cut(self, lengths: np.ndarray, module: Any) -> Windows:
        """Cut sequences of wordpieces of these lengths. Raises ValueError if the settings do not fit the text model."""
        limit = max_length(module.text_model) - N_SPECIAL
        window = limit if self.window is None else self.window
        if window > limit:
            raise ValueError(
                f"window = {window} is out of range: the encoder has {limit + N_SPECIAL} positions, so a window has at "
                f"most {limit} wordpieces, without [CLS] and [SEP]."
            )
        return cut_windows(lengths, window, max(1, window * 3 // 4) if self.stride is None else self.stride)

    def batches(self, docs: List[Doc], counts: np.ndarray, module: Any) -> Iterator[Windows]:
        """The windows of Docs, given the wordpieces per token, in batches of similar length."""
        windows = self.cut(np.diff(piece_borders(docs, counts)), module)
        for index in batch_by_padding(windows.lengths + N_SPECIAL, self.max_batch_tokens):
            yield windows.take(index)


def WordpieceEncoder(
    name: str,
    shim: ModuleShim,
    make_batches: MakeBatches,
    setup: BertSetup,
    options: WindowOptions,
    *,
    nodes: Mapping[str, Model],
    attrs: Mapping[str, Any] = NO_ATTRIBUTES,
) -> Encoder:
    """Create the layer around a torch module, which returns one row per token.

    name (str): Name of the layer.
    shim (ModuleShim): Holds the module, which takes a list of batches and returns the vectors that these keep.
    make_batches (Callable): Makes the batches of Docs, given their wordpieces, the number of these per token, and
        whether a gradient follows. A module-level function: it is copied and pickled with the model.
    setup (BertSetup), options (WindowOptions): What the module is made of, and how Docs reach it.
    nodes (Mapping[str, Model]): The nodes that find words or entities in Docs, see `node_of`.
    attrs (Mapping[str, Any]): Further attributes.
    """
    attributes = {**attrs, "make_batches": make_batches, "setup": setup, "options": options}
    texts = setup.texts()
    if texts is not None:
        attributes[ATTRIBUTE] = texts
    width = None if setup.checkpoint else setup.hidden_width
    return UnitEncoder(name, encode_pieces, init, shim, nodes=nodes, attrs=attributes, width=width)


def init(model: Encoder, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    """Build the module, unless there is one: components and commands initialise a model more than once."""
    shim = shim_of(model)
    texts = model.attrs.get(ATTRIBUTE) or TrainingTexts(tokens=False, texts=False)
    if not shim.is_initialized:
        setup, lexicon = model.attrs["setup"], find_lexicon_node(model)
        matcher = None if lexicon is None else training_matcher(lexicon, reads_labels=setup.reads_labels)
        module = setup.build(shim, X or [], texts, matcher)
        model.attrs["options"].cut(np.zeros(0, "i8"), module)  # raises where window and stride do not fit
        model.set_dim("nO", module.text_model.config.hidden_size)
    texts.clear()


def encode_pieces(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[UnitRows, Callable[[Any], Any]]:
    """The vectors of the wordpieces of Docs, and a callback that takes their gradient."""
    ids, counts = wordpieces_of(model).encode(docs)
    batches = model.attrs["make_batches"](model, docs, ids, counts, is_train)
    vectors, backprop = run_batches(model, batches, len(ids), is_train)
    return UnitRows(vectors, counts), backprop


class PaddedPieces(NamedTuple):
    """A batch of windows, [CLS] and [SEP] around each."""

    input_ids: torch.Tensor  # int64[B, L], the wordpieces
    attention_mask: torch.Tensor  # bool[B, L], False where padded
    kept: torch.Tensor  # int64[N], flat places of the wordpieces whose vectors are taken from their window


def pad_pieces(
    windows: Windows, ids: np.ndarray, wordpieces: Wordpieces, device: torch.device
) -> Tuple[PaddedPieces, np.ndarray]:
    """Make the tensors of a batch of windows from `ids`, int64[n_pieces], the wordpieces of all Docs. Also gives,
    int64[N], the wordpiece that each vector kept belongs to."""
    places, inside, own = windows.pad()
    n_rows, width = places.shape
    padded = np.full((n_rows, width + N_SPECIAL), wordpieces.pad, "i8")
    padded[:, 0] = wordpieces.cls
    padded[:, 1:-1][inside] = ids[places[inside]]
    padded[np.arange(n_rows), windows.lengths + 1] = wordpieces.sep
    mask = np.arange(width + N_SPECIAL) < windows.lengths[:, None] + N_SPECIAL
    rows, columns = np.nonzero(own)
    kept = rows * (width + N_SPECIAL) + columns + 1
    return PaddedPieces(*(tensor_of(array, device) for array in (padded, mask, kept))), places[own]


def wordpieces_of(model: Encoder) -> Wordpieces:
    """The lookup of an initialised layer."""
    return load_wordpieces(settings_of(model)["wordpieces"])


def piece_borders(docs: List[Doc], counts: np.ndarray) -> np.ndarray:
    """The first wordpiece of each Doc, and the end of the last, int64[n_docs + 1]; `counts` are the pieces per
    token."""
    return np.append(0, np.cumsum(counts))[np.cumsum([0, *map(len, docs)])]
