"""SoftLexicon as a thinc layer: Docs in, one vector for each token out, whatever the length of the Doc."""

from dataclasses import dataclass
from typing import Any, Callable, ClassVar, Dict, Iterator, List, Optional, Tuple, cast

import numpy as np
from spacy.tokens import Doc

from ...candidates.batch_words import place_words
from ...candidates.lexicon_node import training_matcher
from ...candidates.training_texts import ATTRIBUTE, TrainingTexts
from ...lexicon.matcher import SingleChars, keep_single_chars
from ..shared.blocks import Block
from ..shared.characters import Characters, read_characters
from ..shared.shim import ModuleShim, settings_of, shim_of
from ..shared.units import Encoder, UnitBatch, UnitEncoder, UnitRows, node_of, run_batches
from ..shared.vocab import load_vocab
from ..shared.windows import cut_windows
from ..shared.words import WordTable
from .batches import make_batches
from .model import SoftLexicon, build_soft_lexicon
from .setup import SoftLexiconSetup


@dataclass(frozen=True)
class SoftLexiconOptions(Block):
    """How Docs reach the module, see `build_soft_lexicon_v1`. Nothing of it is part of the weights."""

    block = "SoftLexicon"
    least: ClassVar = {"window": 1, "max_batch_tokens": 1}

    single_chars: SingleChars = "keep"
    window: int = 256
    max_batch_tokens: int = 4096


def SoftLexiconEncoder(
    setup: SoftLexiconSetup,
    options: SoftLexiconOptions,
    *,
    mixed_precision: bool = False,
    grad_scaler_config: Optional[Dict[str, Any]] = None,
) -> Encoder:
    """Create the layer: Docs to one row per token. The torch module is built when it is initialised or loaded. For the
    arguments see `build_soft_lexicon_v1`."""
    return UnitEncoder(
        "soft_lexicon",
        encode_characters,
        init,
        ModuleShim(
            build_soft_lexicon,
            reads=["vocab", "lexicon_width"],
            mixed_precision=mixed_precision,
            grad_scaler_config=grad_scaler_config,
        ),
        nodes={"lexicon": setup.lexicon.node()},
        width=setup.width,
        attrs={"setup": setup, "options": options, ATTRIBUTE: TrainingTexts(tokens=False, texts=True)},
    )


def init(model: Encoder, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    """Build the module, unless there is one: components and commands initialise a model more than once."""
    shim, texts, lexicon = shim_of(model), model.attrs[ATTRIBUTE], node_of(model, "lexicon")
    assert lexicon is not None
    if not shim.is_initialized:
        setup: SoftLexiconSetup = model.attrs["setup"]
        setup.build(shim, X or [], texts, training_matcher(lexicon, reads_labels=setup.lexicon.labels))
    texts.clear()


def encode_characters(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[UnitRows, Callable[[Any], Any]]:
    """The vectors of the characters of Docs, and what takes their gradient."""
    characters = read_characters(docs)
    batches = _batches(model, docs, characters, is_train)
    vectors, backprop = run_batches(model, batches, len(characters.codes), is_train)
    return UnitRows(vectors, characters.counts), backprop


def _batches(model: Encoder, docs: List[Doc], characters: Characters, is_train: bool) -> Iterator[UnitBatch]:
    module, settings = cast(SoftLexicon, shim_of(model).module), settings_of(model)
    options, lexicon = model.attrs["options"], node_of(model, "lexicon")
    assert lexicon is not None
    words = place_words(docs, lexicon(docs, is_train)[0], characters.counts)
    words = words.take(keep_single_chars(words.starts, words.ends, options.single_chars))
    return make_batches(
        characters,
        load_vocab(settings["vocab"]),
        cut_windows(np.diff(characters.doc_ends, prepend=0), options.window, max(1, options.window * 3 // 4)),
        words,
        WordTable.of(module.embedding.words, settings),
        module.counts.frequency,
        max_tokens=options.max_batch_tokens,
        batch_cost=module.batch_cost,
        device=shim_of(model).device,
    )
