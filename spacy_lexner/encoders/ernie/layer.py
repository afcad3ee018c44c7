"""ERNIE as a thinc layer: Docs in, one vector for each token out, whatever the length of the Doc."""

from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, cast

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ...candidates.lexicon_node import linked_matcher
from ...candidates.training_texts import ATTRIBUTE, TrainingTexts
from ..shared.shim import ModuleShim, shim_of
from ..shared.units import Encoder, UnitBatch
from ..shared.wordpiece_encoder import WindowOptions, WordpieceEncoder, wordpieces_of
from .batches import pad_entities, place_entities
from .entities import Alignment, Overlaps, align_mentions, install_entity_extensions, set_entities
from .entity_node import EntityLinks, EntitySource
from .model import ERNIE, build_ernie
from .setup import ERNIESetup, check_entity_vectors


@dataclass(frozen=True)
class ERNIEOptions(WindowOptions):
    """How Docs reach the module: in windows, and with entities."""

    source: EntitySource
    overlaps: Overlaps
    alignment: Alignment

    def __post_init__(self) -> None:
        super().__post_init__()
        align_mentions(np.zeros(0, "i8"), np.zeros(0, "i8"), self.alignment)  # raises where there is no such rule


def ERNIEEncoder(
    setup: ERNIESetup,
    options: ERNIEOptions,
    *,
    mixed_precision: bool = False,
    grad_scaler_config: Optional[Dict[str, Any]] = None,
) -> Encoder:
    """Create the layer. The torch module is built when it is initialised or loaded.

    setup (ERNIESetup): What the module is made of.
    options (ERNIEOptions): How Docs reach it.
    mixed_precision (bool): See ModuleShim.
    grad_scaler_config (Optional[Dict[str, Any]]): See ModuleShim.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer, one row per token. In prediction it notes the mentions in
        `doc._.lex_entities`.
    """
    if setup.reads_texts and options.source != "candidates":
        raise ValueError(
            'entities = "finetuned" needs source = "candidates": only those are known from the texts alone.'
        )
    install_entity_extensions()
    shim = ModuleShim(build_ernie, mixed_precision=mixed_precision, grad_scaler_config=grad_scaler_config)
    nodes = {"entities": EntityLinks(options.source, options.overlaps)}
    return WordpieceEncoder("ernie", shim, make_batches, init, setup, options, nodes=nodes)


def init(model: Encoder, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    """Build the module, unless there is one: components and commands initialise a model more than once."""
    shim = shim_of(model)
    texts = model.attrs.get(ATTRIBUTE) or TrainingTexts(tokens=False, texts=False)
    if not shim.is_initialized:
        module = model.attrs["setup"].build(shim, X or [], texts, linked_matcher(lexicon_node(model)))
        model.attrs["options"].cut(np.zeros(0, "i8"), module.encoder.text)  # raises where window and stride do not fit
        model.set_dim("nO", module.encoder.text.config.hidden_size)
    texts.clear()


def make_batches(model: Encoder, docs: List[Doc], ids: np.ndarray, counts: np.ndarray) -> Iterator[UnitBatch]:
    """Padded batches of windows, windows of similar length together."""
    module = cast(ERNIE, shim_of(model).module)
    options: ERNIEOptions = model.attrs["options"]
    found = model.layers[0].predict(docs)
    check_linked_vectors(model)
    for doc, entities in zip(docs, found):
        set_entities(doc, entities)
    placed = place_entities(docs, found, counts, module, options.alignment)
    for windows in options.batches(docs, counts, module.encoder.text):
        yield pad_entities(windows, ids, wordpieces_of(model), placed, shim_of(model).device)


def lexicon_node(model: Encoder) -> Model:
    """RETURNS (Model): The node of the layer that reads the lexicon."""
    return model.layers[0].layers[0]


def check_linked_vectors(model: Encoder) -> None:
    """Refuse a lexicon of another width than that of training, which may have come later.

    model (Encoder): The layer.
    """
    module = cast(ERNIE, shim_of(model).module)
    check_entity_vectors(linked_matcher(lexicon_node(model)).lexicon, module.encoder.entity_width)
