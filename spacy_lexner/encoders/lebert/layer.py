"""LEBERT as a thinc layer from Docs of any length to one vector per token."""

from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, cast

import numpy as np
import torch
from spacy.tokens import Doc

from ...candidates.batch_words import AttendedWords, BatchWords, place_words, split_by_doc
from ...candidates.policy import Policy, candidate_slots
from ...lexicon.matcher import SingleChars
from ...tensors.convert import numpy_of
from ..shared.bert_shim import BertShim
from ..shared.shim import settings_of, shim_of
from ..shared.units import Encoder, UnitBatch, run_batches
from ..shared.wordpiece_encoder import WindowOptions, WordpieceEncoder, wordpieces_of
from ..shared.words import WordTable
from .batches import ChosenWords, pad_windows
from .model import LEBERT, build_lebert
from .setup import LEBERTSetup


@dataclass(frozen=True)
class LEBERTOptions(WindowOptions):
    """Options for the preparation of the module's input: windows and candidate words."""

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
    mixed_precision: bool,
    grad_scaler_config: Dict[str, Any],
) -> Encoder:
    """The layer, one row per token; see `build_lebert_v1`."""
    shim = BertShim(
        build_lebert,
        reads=["wordpieces", "lexicon_width"],
        mixed_precision=mixed_precision,
        grad_scaler_config=grad_scaler_config,
    )
    nodes = {"lexicon": setup.lexicon.node()} if setup.adapter_layers else {}
    attrs = {"attend_units": attend} if setup.adapter_layers else {}
    return WordpieceEncoder("lebert", shim, make_batches, setup, options, nodes=nodes, attrs=attrs)


def make_batches(
    model: Encoder, docs: List[Doc], ids: np.ndarray, counts: np.ndarray, is_train: bool = False
) -> Iterator[UnitBatch]:
    """YIELDS (UnitBatch): Padded batches of windows of similar length."""
    words = None
    if model.layers:
        words = choose_words(model, place_words(docs, model.layers[0](docs, is_train)[0], counts), ids)
    for windows in model.attrs["options"].batches(docs, counts, shim_of(model).module):
        yield pad_windows(windows, ids, wordpieces_of(model), words, shim_of(model).device)


def choose_words(model: Encoder, words: BatchWords, ids: np.ndarray) -> ChosenWords:
    """Choose the words of each wordpiece in `ids` from the candidates, by the layer's options."""
    options: LEBERTOptions = model.attrs["options"]
    slots = candidate_slots(
        words.starts,
        words.ends,
        len(ids),
        options.max_words,
        policy=options.policy,
        single_chars=options.single_chars,
    )
    table = WordTable.of(cast(LEBERT, shim_of(model).module).words, settings_of(model))
    return words, slots, table


def attend(model: Encoder, docs: List[Doc]) -> List[AttendedWords]:
    """Run the module and record the attention of each Doc's tokens to the words that cover them, averaged over the
    adapters."""
    ids, counts = wordpieces_of(model).encode(docs)
    chosen = choose_words(model, place_words(docs, model.layers[0].predict(docs), counts), ids)
    words, slots, _ = chosen
    token_of = np.repeat(np.arange(len(counts)), counts)
    parts: List[AttendedWords] = []

    def watch() -> Iterator[UnitBatch]:
        for windows in model.attrs["options"].batches(docs, counts, shim_of(model).module):
            batch, pieces = pad_windows(windows, ids, wordpieces_of(model), chosen, shim_of(model).device)
            record: List[torch.Tensor] = []
            yield UnitBatch(batch._replace(record=record), pieces)  # resumes after the module has run
            shown = numpy_of(cast(torch.Tensor, batch.slots).flatten(0, 1)[batch.kept])
            weights = numpy_of(torch.stack(record).mean(0).flatten(0, 1)[batch.kept].double())
            row, column = np.nonzero(shown)
            number, token = slots[pieces[row], column], token_of[pieces[row]]
            starts, ends = token_of[words.starts[number]], token_of[words.ends[number] - 1] + 1
            parts.append(AttendedWords(token, starts, ends, weights[row, column] / counts[token]))

    run_batches(model, watch(), len(ids), is_train=False)
    return split_by_doc(parts, docs)
