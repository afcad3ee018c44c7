"""ERNIE as a thinc layer from Docs of any length to one vector per token."""

from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, cast

import numpy as np
from spacy.tokens import Doc

from ...candidates.lexicon_node import linked_matcher
from ..shared.bert_shim import BertShim
from ..shared.lexicon_options import LexiconOptions
from ..shared.shim import shim_of
from ..shared.units import Encoder, UnitBatch
from ..shared.wordpiece_encoder import WindowOptions, WordpieceEncoder, wordpieces_of
from .batches import pad_entities, place_entities
from .entities import Alignment, Overlaps, align_mentions, install_entity_extensions, join_entities, set_entities
from .entity_node import EntityLinks, EntitySource
from .model import ERNIE, build_ernie
from .setup import ERNIESetup, check_entity_vectors


@dataclass(frozen=True)
class ERNIEOptions(WindowOptions):
    """Options for the preparation of the module's input: windows and entities."""

    source: EntitySource
    overlaps: Overlaps
    alignment: Alignment
    lexicon: LexiconOptions = LexiconOptions()  # noqa: RUF009 (frozen)

    def __post_init__(self) -> None:
        super().__post_init__()
        align_mentions(np.zeros(0, "i8"), np.zeros(0, "i8"), self.alignment)  # raises for an unknown rule


def ERNIEEncoder(
    setup: ERNIESetup,
    options: ERNIEOptions,
    *,
    mixed_precision: bool,
    grad_scaler_config: Dict[str, Any],
) -> Encoder:
    """The layer, one row per token; see `build_ernie_v1`. Prediction stores the mentions in `doc._.lex_entities`."""
    if setup.reads_texts and options.source != "candidates":
        raise ValueError(
            'entities = "finetuned" needs source = "candidates": other entities are not known before training.'
        )
    install_entity_extensions()
    shim = BertShim(
        build_ernie, reads=["wordpieces"], mixed_precision=mixed_precision, grad_scaler_config=grad_scaler_config
    )
    nodes = {"entities": EntityLinks(options.source, options.overlaps, options.lexicon.node())}
    attrs = {"join_segments": join_entities}
    return WordpieceEncoder("ernie", shim, make_batches, setup, options, nodes=nodes, attrs=attrs)


def make_batches(
    model: Encoder, docs: List[Doc], ids: np.ndarray, counts: np.ndarray, is_train: bool = False
) -> Iterator[UnitBatch]:
    """YIELDS (UnitBatch): Padded batches of windows of similar length."""
    module = cast(ERNIE, shim_of(model).module)
    options: ERNIEOptions = model.attrs["options"]
    found, _ = model.layers[0](docs, is_train)
    check_linked_vectors(model)
    for doc, entities in zip(docs, found):
        set_entities(doc, entities)
    placed = place_entities(docs, found, counts, module, options.alignment)
    for windows in options.batches(docs, counts, module):
        yield pad_entities(windows, ids, wordpieces_of(model), placed, shim_of(model).device)


def check_linked_vectors(model: Encoder) -> None:
    """Raise ValueError if the vectors of the linked lexicon have another width than in training."""
    lexicon = linked_matcher(model.layers[0].layers[0]).lexicon
    check_entity_vectors(lexicon, cast(ERNIE, shim_of(model).module).encoder.entity_width)
