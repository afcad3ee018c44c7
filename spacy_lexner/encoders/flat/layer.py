"""FLAT as a thinc layer: Docs in, one vector for each token out, whatever the length of the Doc."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...candidates.attended_words import AttendedWords, split_by_doc
from ...candidates.lexicon_node import LexiconCandidates
from ...candidates.training_texts import ATTRIBUTE, TrainingTexts
from ...lexicon.single_chars import RULES, SingleChars
from ..shared.listeners import find_listener
from ..shared.row_batches import RowBatch, pool_tokens, run_batches
from ..shared.shim import ModuleShim
from ..shared.windows import cut_windows
from ..shared.word_table import WordTable
from .batches import Characters, make_batches, place_words, read_characters
from .model import Flat, build_flat
from .setup import FlatSetup
from .vocab import load_vocab

Encoder = Model[List[Doc], List[Floats2d]]


@dataclass(frozen=True)
class FlatOptions:
    """How Docs reach the module. Nothing of it is part of the weights.

    single_chars (str): Rule for words of one character, see `keep_single_chars`.
    max_words (float): Most words of a window for each of its characters; where there are more, the longest stay.
    window (int): Longer Docs are read in windows of so many characters.
    stride (Optional[int]): How far windows lie apart; None for three quarters of a window.
    max_batch_tokens (int): Most characters and words, padding included, of a batch of windows.
    freeze_steps (int): For so many updates the contextual sub-model is not trained.
    """

    single_chars: SingleChars = "drop"
    max_words: float = 4.0
    window: int = 256
    stride: Optional[int] = None
    max_batch_tokens: int = 2048
    freeze_steps: int = 0

    def __post_init__(self) -> None:
        for name, least in (
            ("max_words", 0),
            ("window", 1),
            ("stride", 1),
            ("max_batch_tokens", 1),
            ("freeze_steps", 0),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} = {value} is out of range: it must be at least {least}.")
        if self.stride is not None and self.stride > self.window:
            raise ValueError(f"stride = {self.stride} is out of range: it must be at most window = {self.window}.")
        if self.single_chars not in RULES:
            raise ValueError(f"Unknown single_chars = {self.single_chars!r}. Choose one of {RULES}.")


def FlatEncoder(
    setup: FlatSetup,
    options: FlatOptions,
    contextual: Optional[Encoder] = None,
    *,
    mixed_precision: bool = False,
    grad_scaler_config: Optional[Dict[str, Any]] = None,
) -> Encoder:
    """Create the layer. The torch module is built when it is initialised or loaded.

    setup (FlatSetup): What the module is made of.
    options (FlatOptions): How Docs reach it.
    contextual (Optional[Model[List[Doc], List[Floats2d]]]): A sub-model whose vectors stand beside those of the
        characters.
    mixed_precision (bool): See ModuleShim.
    grad_scaler_config (Optional[Dict[str, Any]]): See ModuleShim.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer, one row per token.
    """
    lexicon = LexiconCandidates() if setup.reads_words else None
    nodes = {name: node for name, node in (("lexicon", lexicon), ("contextual", contextual)) if node is not None}
    return Model(
        "flat",
        forward,
        init=init,
        layers=list(nodes.values()),
        shims=[ModuleShim(build_flat, mixed_precision=mixed_precision, grad_scaler_config=grad_scaler_config)],
        refs=dict(nodes),
        dims={"nO": setup.width},
        attrs={
            "setup": setup,
            "options": options,
            "n_updates": 0,
            ATTRIBUTE: TrainingTexts(tokens=False, texts=True),
            **({} if lexicon is None else {"attend": attend}),
        },
    )


def init(model: Encoder, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    """Build the module, unless there is one: components and commands initialise a model more than once."""
    shim, texts = _shim(model), model.attrs[ATTRIBUTE]
    lexicon, contextual = model.maybe_get_ref("lexicon"), model.maybe_get_ref("contextual")
    if contextual is not None:
        contextual.initialize(X=X)
    if not shim.is_initialized:
        matcher = None
        if lexicon is not None:
            lexicon.predict([])  # raises where no lexicon is linked
            matcher = lexicon.attrs["link"].require().matcher
        model.attrs["setup"].build(shim, X or [], texts, matcher, _width(contextual, X or []))
    texts.clear()


def _width(contextual: Optional[Encoder], sample: List[Doc]) -> int:
    """Width of the contextual vectors: as the sub-model says it, or as it shows on a Doc."""
    if contextual is None:
        return 0
    width = contextual.maybe_get_dim("nO")
    if width is None and sample:
        width = contextual.predict(sample[:1])[0].shape[1]
    if width is None:
        raise ValueError("The width of the contextual sub-model is not known: initialise the model with some Docs.")
    return width


def forward(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[List[Floats2d], Callable]:
    """Encode Docs: the vector of a token is the mean of its characters' vectors."""
    if not docs:
        return [], lambda gradients: []
    characters = read_characters(docs)
    context, backprop_context = _read_context(model, docs, is_train)
    batches = _batches(model, docs, characters)
    vectors, backprop_vectors = run_batches(model, batches, len(characters.codes), is_train, context)
    tokens, backprop_tokens = pool_tokens(model, vectors, characters.counts)
    borders = np.cumsum([0, *(len(doc) for doc in docs)]).tolist()

    def backprop(gradients: List[Floats2d]) -> List[Doc]:
        if len(characters.codes):
            backprop_context(backprop_vectors(backprop_tokens(model.ops.xp.concatenate(gradients))))
        return []

    return [tokens[begin:end] for begin, end in pairwise(borders)], backprop


def attend(model: Encoder, docs: List[Doc]) -> List[AttendedWords]:
    """Say how much tokens attend to words, in the mean over heads and layers. This runs the module.

    model (Encoder): The layer, with words.
    docs (List[Doc]): The Docs.
    RETURNS (List[AttendedWords]): The attention, for each Doc.
    """
    if not docs:
        return []
    characters = read_characters(docs)
    counts = characters.counts
    token_of = np.repeat(np.arange(len(counts)), counts)
    parts: List[AttendedWords] = []

    def watch() -> Iterator[RowBatch]:
        for batch, rows in _batches(model, docs, characters):
            record: List[torch.Tensor] = []
            yield RowBatch(batch._replace(record=record), rows)  # goes on when the module has run
            n_characters = batch.characters.shape[1]
            kept = batch.kept.cpu().numpy()
            text, place = kept // n_characters, kept % n_characters
            weights = torch.stack(record).mean(0)[:, :n_characters, n_characters:].double().cpu().numpy()
            row, column = np.nonzero(batch.word_ids.cpu().numpy()[text])
            first, last = (
                rows[row] - place[row] + part.cpu().numpy()[text[row], column]
                for part in (batch.word_starts, batch.word_ends)
            )
            token = token_of[rows[row]]
            share = weights[text[row], place[row], column] / counts[token]
            parts.append(AttendedWords(token, token_of[first], token_of[last], share))

    context, _ = _read_context(model, docs, is_train=False)
    run_batches(model, watch(), len(characters.codes), False, context)
    return split_by_doc(parts, docs)


def _read_context(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[Any, Callable[[Any], None]]:
    """The contextual vectors of all tokens, one Doc after the other, and what takes their gradient. A listener gets a
    gradient of zero while it is frozen: its component waits for one."""
    contextual = model.maybe_get_ref("contextual")
    if contextual is None:
        return None, lambda gradient: None
    xp = model.ops.xp
    frozen = model.attrs["n_updates"] < model.attrs["options"].freeze_steps
    model.attrs["n_updates"] += int(is_train)
    listens = find_listener(contextual) is not None
    rows, backprop = contextual(docs, is_train and (listens or not frozen))
    lengths = [len(doc) for doc in docs]

    def backprop_rows(gradient: Any) -> None:
        if listens or not frozen:
            gradient = xp.zeros_like(gradient) if frozen else gradient
            backprop([gradient[end - n : end] for end, n in zip(np.cumsum(lengths).tolist(), lengths)])

    return xp.concatenate([part for part, n in zip(rows, lengths) if n] or rows[:1]), backprop_rows


def _batches(model: Encoder, docs: List[Doc], characters: Characters) -> Iterator[RowBatch]:
    module, settings = _built(model)
    options, lexicon = model.attrs["options"], model.maybe_get_ref("lexicon")
    words, table = None, None
    if lexicon is not None:
        candidates = lexicon.predict(docs)
        table = WordTable.of(module.embedding.words, settings["lexicon_width"])
        for one in {id(found.lexicon): found.lexicon for found in candidates}.values():
            table.check(one)
        words = place_words(docs, candidates, characters, options.single_chars)
    stride = max(1, options.window * 3 // 4) if options.stride is None else options.stride
    return make_batches(
        characters,
        load_vocab(settings["vocab"]),
        cut_windows(np.diff(characters.doc_ends, prepend=0), options.window, stride),
        words,
        table,
        max_words=options.max_words,
        max_tokens=options.max_batch_tokens,
        device=_shim(model).device,
    )


def _shim(model: Encoder) -> ModuleShim:
    return cast(ModuleShim, model.shims[0])


def _built(model: Encoder) -> Tuple[Flat, Dict[str, Any]]:
    """The module and its settings. Raises ValueError where nothing has been built."""
    shim = _shim(model)
    return cast(Flat, shim.module), cast(Dict[str, Any], shim.settings)
