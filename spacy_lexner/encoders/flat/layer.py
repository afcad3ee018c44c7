"""FLAT as a thinc layer: Docs in, one vector for each token out, whatever the length of the Doc."""

from dataclasses import dataclass
from typing import Any, Callable, ClassVar, Dict, Iterator, List, Optional, Tuple, cast

import numpy as np
import torch
from spacy.tokens import Doc

from ...candidates.batch_words import AttendedWords, place_words, split_by_doc
from ...candidates.lexicon_node import training_matcher
from ...candidates.training_texts import ATTRIBUTE, TrainingTexts
from ...candidates.unit_docs import find_listener
from ...lexicon.matcher import SingleChars, keep_single_chars
from ...tensors.convert import numpy_of
from ..shared.blocks import Block
from ..shared.characters import Characters, read_characters
from ..shared.shim import ModuleShim, settings_of, shim_of
from ..shared.units import (
    Encoder,
    UnitBatch,
    UnitEncoder,
    UnitRows,
    node_of,
    run_batches,
    split_by_length,
)
from ..shared.vocab import load_vocab
from ..shared.windows import cut_windows
from ..shared.words import WordTable
from .batches import make_batches
from .model import Flat, build_flat
from .setup import FlatSetup


@dataclass(frozen=True)
class FlatOptions(Block):
    """Options for the preparation of the module's input, see `build_flat_v1`. The weights do not depend on them."""

    block = "FLAT"
    least: ClassVar = {"max_words": 0, "window": 1, "max_batch_tokens": 1, "freeze_steps": 0}

    single_chars: SingleChars = "drop"
    max_words: float = 4.0
    window: int = 256
    max_batch_tokens: int = 2048
    freeze_steps: int = 0


def FlatEncoder(
    setup: FlatSetup,
    options: FlatOptions,
    contextual: Optional[Encoder] = None,
    *,
    mixed_precision: bool = False,
    grad_scaler_config: Optional[Dict[str, Any]] = None,
) -> Encoder:
    """Create the layer: Docs to one row per token. The torch module is built when it is initialised or loaded. For the
    arguments see `build_flat_v1`."""
    lexicon = None if setup.words == "none" else setup.lexicon.node()
    nodes = {name: node for name, node in (("lexicon", lexicon), ("contextual", contextual)) if node is not None}
    return UnitEncoder(
        "flat",
        encode_characters,
        init,
        ModuleShim(
            build_flat,
            reads=["vocab", "lexicon_width"],
            mixed_precision=mixed_precision,
            grad_scaler_config=grad_scaler_config,
        ),
        nodes=nodes,
        width=setup.width,
        attrs={
            "setup": setup,
            "options": options,
            "n_updates": 0,
            ATTRIBUTE: TrainingTexts(tokens=False, texts=True),
            **({} if lexicon is None else {"attend_units": attend}),
        },
    )


def init(model: Encoder, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    """Build the module, unless there is one: components and commands initialise a model more than once."""
    shim, texts = shim_of(model), model.attrs[ATTRIBUTE]
    lexicon, contextual = node_of(model, "lexicon"), node_of(model, "contextual")
    if contextual is not None:
        contextual.initialize(X=X)
    if not shim.is_initialized:
        setup: FlatSetup = model.attrs["setup"]
        matcher = None if lexicon is None else training_matcher(lexicon, reads_labels=setup.lexicon.labels)
        setup.build(shim, X or [], texts, matcher, _width(contextual, X or []))
    texts.clear()


def _width(contextual: Optional[Encoder], sample: List[Doc]) -> int:
    """RETURNS (int): Width of the contextual vectors: the sub-model's `nO`, or else that of its output for a Doc."""
    if contextual is None:
        return 0
    width = contextual.maybe_get_dim("nO")
    if width is None and sample:
        width = contextual.predict(sample[:1])[0].shape[1]
    if width is None:
        raise ValueError("The width of the contextual sub-model is not known: initialise the model with some Docs.")
    return width


def encode_characters(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[UnitRows, Callable[[Any], Any]]:
    """The vectors of the characters of Docs, and what takes their gradient."""
    characters = read_characters(docs)
    context, backprop_context = _read_context(model, docs, is_train)
    batches = _batches(model, docs, characters, is_train)
    vectors, backprop_vectors = run_batches(model, batches, len(characters.codes), is_train, context)
    return UnitRows(vectors, characters.counts), lambda gradient: backprop_context(backprop_vectors(gradient))


def attend(model: Encoder, docs: List[Doc]) -> List[AttendedWords]:
    """Run the module and record the attention of each Doc's tokens to words, averaged over heads and layers."""
    if not docs:
        return []
    characters = read_characters(docs)
    counts = characters.counts
    token_of = np.repeat(np.arange(len(counts)), counts)
    parts: List[AttendedWords] = []

    def watch() -> Iterator[UnitBatch]:
        for batch, rows in _batches(model, docs, characters, False):
            record: List[torch.Tensor] = []
            yield UnitBatch(batch._replace(record=record), rows)  # goes on when the module has run
            n_characters = batch.characters.shape[1]
            kept = numpy_of(batch.kept)
            text, place = kept // n_characters, kept % n_characters
            weights = torch.stack([layer[:, :n_characters, n_characters:] for layer in record]).mean(0)
            row, column = np.nonzero(numpy_of(batch.word_ids)[text])
            starts, ends = (
                rows[row] - place[row] + numpy_of(part)[text[row], column]
                for part in (batch.word_starts, batch.word_ends)
            )
            token = token_of[rows[row]]
            share = numpy_of(weights.double())[text[row], place[row], column] / counts[token]
            parts.append(AttendedWords(token, token_of[starts], token_of[ends - 1] + 1, share))

    context, _ = _read_context(model, docs, is_train=False)
    run_batches(model, watch(), len(characters.codes), False, context)
    return split_by_doc(parts, docs)


def _read_context(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[Any, Callable[[Any], None]]:
    """The contextual vectors of all tokens, one Doc after the other, and what takes their gradient. A listener gets a
    gradient of zero while it is frozen: its component waits for one."""
    contextual = node_of(model, "contextual")
    if contextual is None:
        return None, lambda gradient: None
    xp = model.ops.xp
    if is_train and all(parameter.grad is None for parameter in shim_of(model).module.parameters()):
        model.attrs["n_updates"] += 1  # the first part of an accumulated batch
    frozen = model.attrs["n_updates"] <= model.attrs["options"].freeze_steps
    listens = find_listener(contextual) is not None
    rows, backprop = contextual(docs, is_train and (listens or not frozen))

    def backprop_rows(gradient: Any) -> None:
        if listens or not frozen:
            backprop(split_by_length(xp.zeros_like(gradient) if frozen else gradient, docs))

    return xp.concatenate([part for part, doc in zip(rows, docs) if len(doc)] or rows[:1]), backprop_rows


def _batches(model: Encoder, docs: List[Doc], characters: Characters, is_train: bool) -> Iterator[UnitBatch]:
    module, settings = cast(Flat, shim_of(model).module), settings_of(model)
    options, lexicon = model.attrs["options"], node_of(model, "lexicon")
    words, table = None, None
    if lexicon is not None:
        words = place_words(docs, lexicon(docs, is_train)[0], characters.counts)
        words = words.take(keep_single_chars(words.starts, words.ends, options.single_chars))
        table = WordTable.of(module.embedding.words, settings)
    return make_batches(
        characters,
        load_vocab(settings["vocab"]),
        cut_windows(np.diff(characters.doc_ends, prepend=0), options.window, max(1, options.window * 3 // 4)),
        words,
        table,
        max_words=options.max_words,
        max_tokens=options.max_batch_tokens,
        device=shim_of(model).device,
    )
