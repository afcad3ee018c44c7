"""LEBERT as a thinc layer: Docs in, one vector for each token out, whatever the length of the Doc."""

from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, cast

import numpy as np
import torch
from spacy.tokens import Doc

from ...candidates.attended_words import AttendedWords, split_by_doc
from ...candidates.lexicon_node import DocCandidates, LexiconCandidates
from ...candidates.policy import Policy
from ...candidates.training_texts import ATTRIBUTE, TrainingTexts
from ...lexicon.single_chars import SingleChars
from ..shared.piece_encoder import (
    Encoder,
    PieceEncoder,
    WindowOptions,
    encode_batches,
    settings_of,
    shim_of,
    wordpieces_of,
)
from ..shared.shim import ModuleShim
from ..shared.word_table import WordTable
from .batches import PaddedWindows, PieceWords, pad_windows, place_words
from .model import LEBERT, build_lebert
from .setup import LEBERTSetup


@dataclass(frozen=True)
class LEBERTOptions(WindowOptions):
    """How Docs reach the module: in windows, and with words. Nothing of it is part of the weights.

    max_words (int): Most candidate words of a token.
    policy (str): Which words these are, see `candidate_slots`.
    single_chars (str): Rule for words of one token, see `candidate_slots`.
    """

    max_words: int = 3
    policy: Policy = "start"
    single_chars: SingleChars = "keep"

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
    attrs: Dict[str, Any] = {"setup": setup, "options": options}
    if setup.reads_tokens or setup.reads_texts:
        attrs[ATTRIBUTE] = TrainingTexts(tokens=setup.reads_tokens, texts=setup.reads_texts)
    if setup.adapter_layers:
        attrs["attend"] = attend
    layers: List[Any] = [LexiconCandidates()] if setup.adapter_layers else []
    width = None if setup.checkpoint else setup.hidden_width
    return PieceEncoder("lebert", shim, make_batches, init, layers=layers, attrs=attrs, width=width)


def init(model: Encoder, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    """Build the module, unless there is one: components and commands initialise a model more than once."""
    shim = shim_of(model)
    texts = model.attrs.get(ATTRIBUTE) or TrainingTexts(tokens=False, texts=False)
    if not shim.is_initialized:
        matcher = None
        if model.layers:
            model.layers[0].predict([])  # raises where no lexicon is linked
            matcher = model.layers[0].attrs["link"].require().matcher
        module = model.attrs["setup"].build(shim, X or [], texts, matcher)
        model.attrs["options"].cut(np.zeros(0, "i8"), module.encoder)  # raises where window and stride do not fit
        model.set_dim("nO", module.encoder.config.hidden_size)
    texts.clear()


def make_batches(model: Encoder, docs: List[Doc], ids: np.ndarray, counts: np.ndarray) -> Iterator[PaddedWindows]:
    """Padded batches of windows, windows of similar length together."""
    module = cast(LEBERT, shim_of(model).module)
    words, table = None, None
    if model.layers:
        words, table = place_candidates(model, docs, model.layers[0].predict(docs), counts)
    for windows in model.attrs["options"].batches(docs, counts, module.encoder):
        yield pad_windows(windows, ids, wordpieces_of(model), words, table, shim_of(model).device)


def attend(model: Encoder, docs: List[Doc]) -> List[AttendedWords]:
    """Say how much tokens attend to the words that cover them, in the mean over the adapters. This runs the module.

    model (Encoder): The layer, with adapters.
    docs (List[Doc]): The Docs.
    RETURNS (List[AttendedWords]): The attention, for each Doc.
    """
    module = cast(LEBERT, shim_of(model).module)
    ids, counts = wordpieces_of(model).encode(docs)
    words, table = place_candidates(model, docs, model.layers[0].predict(docs), counts)
    token_of = np.repeat(np.arange(len(counts)), counts)
    parts: List[AttendedWords] = []

    def watch() -> Iterator[PaddedWindows]:
        for windows in model.attrs["options"].batches(docs, counts, module.encoder):
            batch, pieces = pad_windows(windows, ids, wordpieces_of(model), words, table, shim_of(model).device)
            record: List[torch.Tensor] = []
            yield PaddedWindows(batch._replace(record=record), pieces)  # goes on when the module has run
            slots = cast(torch.Tensor, batch.slots).flatten(0, 1)[batch.kept].cpu().numpy()
            weights = torch.stack(record).mean(0).flatten(0, 1)[batch.kept].double().cpu().numpy()
            row, column = np.nonzero(slots)
            number, token = words.slots[pieces[row], column], token_of[pieces[row]]
            spans = token_of[words.first[number]], token_of[words.last[number]]
            parts.append(AttendedWords(token, *spans, weights[row, column] / counts[token]))

    encode_batches(model, watch(), len(ids), is_train=False)
    return split_by_doc(parts, docs)


def place_candidates(
    model: Encoder, docs: Sequence[Doc], candidates: Sequence[DocCandidates], counts: np.ndarray
) -> Tuple[PieceWords, WordTable]:
    """Place candidate words on the wordpieces of Docs, as the layer's options say.

    model (Encoder): The layer, with adapters.
    docs (Sequence[Doc]): The Docs.
    candidates (Sequence[DocCandidates]): The candidates of each.
    counts (numpy.ndarray): int64[n_tokens], wordpieces of each token, over all Docs.
    RETURNS (Tuple[PieceWords, WordTable]): The words, and how the module knows them. Raises ValueError where their
        lexicon has vectors of another width than that of training.
    """
    table = WordTable.of(cast(LEBERT, shim_of(model).module).words, settings_of(model)["lexicon_width"])
    for lexicon in {id(found.lexicon): found.lexicon for found in candidates}.values():
        table.check(lexicon)
    options: LEBERTOptions = model.attrs["options"]
    placed = place_words(
        docs,
        candidates,
        counts,
        max_words=options.max_words,
        policy=options.policy,
        single_chars=options.single_chars,
    )
    return placed, table
