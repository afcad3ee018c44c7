"""LEBERT as a thinc layer: Docs in, one vector for each token out, whatever the length of the Doc."""

from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, cast

import numpy as np
import torch
from spacy.tokens import Doc

from ...candidates.attended_words import AttendedWords, split_by_doc
from ...candidates.batch_words import BatchWords, place_words
from ...candidates.lexicon_node import LexiconCandidates, linked_matcher
from ...candidates.policy import Policy, candidate_slots
from ...candidates.training_texts import ATTRIBUTE, TrainingTexts
from ...lexicon.single_chars import SingleChars
from ..shared.shim import ModuleShim, settings_of, shim_of
from ..shared.units import Encoder, UnitBatch, run_batches
from ..shared.wordpiece_encoder import WindowOptions, WordpieceEncoder, wordpieces_of
from ..shared.words import WordTable
from .batches import ChosenWords, pad_windows
from .model import LEBERT, build_lebert
from .setup import LEBERTSetup


@dataclass(frozen=True)
class LEBERTOptions(WindowOptions):
    """How Docs reach the module: in windows, and with words."""

    max_words: int
    policy: Policy
    single_chars: SingleChars

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_words < 1:
            raise ValueError(f"max_words = {self.max_words} is out of range: it must be at least 1.")


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
    nodes = {"lexicon": LexiconCandidates()} if setup.adapter_layers else {}
    attrs = {"attend": attend} if setup.adapter_layers else {}
    return WordpieceEncoder("lebert", shim, make_batches, init, setup, options, nodes=nodes, attrs=attrs)


def init(model: Encoder, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    """Build the module, unless there is one: components and commands initialise a model more than once."""
    shim = shim_of(model)
    texts = model.attrs.get(ATTRIBUTE) or TrainingTexts(tokens=False, texts=False)
    if not shim.is_initialized:
        matcher = linked_matcher(model.layers[0]) if model.layers else None
        module = model.attrs["setup"].build(shim, X or [], texts, matcher)
        model.attrs["options"].cut(np.zeros(0, "i8"), module.encoder)  # raises where window and stride do not fit
        model.set_dim("nO", module.encoder.config.hidden_size)
    texts.clear()


def make_batches(model: Encoder, docs: List[Doc], ids: np.ndarray, counts: np.ndarray) -> Iterator[UnitBatch]:
    """Padded batches of windows, windows of similar length together."""
    words = choose_words(model, place_words(docs, model.layers[0].predict(docs), counts), ids) if model.layers else None
    for windows in model.attrs["options"].batches(docs, counts, cast(LEBERT, shim_of(model).module).encoder):
        yield pad_windows(windows, ids, wordpieces_of(model), words, shim_of(model).device)


def choose_words(model: Encoder, words: BatchWords, ids: np.ndarray) -> ChosenWords:
    """Choose the words that each wordpiece gets, as the layer's options say.

    model (Encoder): The layer, with adapters.
    words (BatchWords): The candidate words on the wordpieces of a batch.
    ids (numpy.ndarray): int64[n_pieces], these wordpieces.
    RETURNS (ChosenWords): The words of the batch, those of each wordpiece, and how the module knows words.
    """
    options: LEBERTOptions = model.attrs["options"]
    slots = candidate_slots(
        words.starts,
        words.ends,
        len(ids),
        options.max_words,
        policy=options.policy,
        single_chars=options.single_chars,
    )
    table = WordTable.of(cast(LEBERT, shim_of(model).module).words, settings_of(model)["lexicon_width"])
    return words, slots, table


def attend(model: Encoder, docs: List[Doc]) -> List[AttendedWords]:
    """Say how much tokens attend to the words that cover them, in the mean over the adapters. This runs the module.

    model (Encoder): The layer, with adapters.
    docs (List[Doc]): The Docs.
    RETURNS (List[AttendedWords]): The attention, for each Doc.
    """
    ids, counts = wordpieces_of(model).encode(docs)
    chosen = choose_words(model, place_words(docs, model.layers[0].predict(docs), counts), ids)
    words, slots, _ = chosen
    token_of = np.repeat(np.arange(len(counts)), counts)
    parts: List[AttendedWords] = []

    def watch() -> Iterator[UnitBatch]:
        for windows in model.attrs["options"].batches(docs, counts, cast(LEBERT, shim_of(model).module).encoder):
            batch, pieces = pad_windows(windows, ids, wordpieces_of(model), chosen, shim_of(model).device)
            record: List[torch.Tensor] = []
            yield UnitBatch(batch._replace(record=record), pieces)  # goes on when the module has run
            shown = cast(torch.Tensor, batch.slots).flatten(0, 1)[batch.kept].cpu().numpy()
            weights = torch.stack(record).mean(0).flatten(0, 1)[batch.kept].double().cpu().numpy()
            row, column = np.nonzero(shown)
            number, token = slots[pieces[row], column], token_of[pieces[row]]
            starts, ends = token_of[words.starts[number]], token_of[words.ends[number] - 1] + 1
            parts.append(AttendedWords(token, starts, ends, weights[row, column] / counts[token]))

    run_batches(model, watch(), len(ids), is_train=False)
    return split_by_doc(parts, docs)
