"""Candidate words behind any encoder, as a thinc layer: token vectors and words through a bidirectional LSTM."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Callable, Dict, Iterator, List, Literal, Optional, Tuple, cast, get_args

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...candidates.lexicon_node import LexiconCandidates
from ...candidates.policy import Policy, candidate_slots
from ...candidates.training_texts import ATTRIBUTE, TrainingTexts
from ...lexicon.single_chars import SingleChars
from ..shared.padding import batch_by_padding
from ..shared.row_batches import RowBatch, run_batches
from ..shared.shim import ModuleShim
from ..shared.word_attention import EMPTY
from ..shared.word_table import WordTable, distinct_words, join_words, start_from_lexicon, words_of_texts
from .model import WordBatch, WordBiLSTM, build_word_bilstm

Encoder = Model[List[Doc], List[Floats2d]]
WordsFrom = Literal["frozen", "finetuned"]


@dataclass(frozen=True)
class WordBiLSTMSetup:
    """The settings of the layer.

    hidden_width (int): Width of either direction of the LSTM.
    words (str): "frozen": word vectors stay as the lexicon has them. "finetuned": those of words in the training texts
        are copied and trained.
    word_width (int): Width of the word vectors if the lexicon has none.
    max_words (int): Most candidate words of a token.
    policy (str): Which words these are, see `candidate_slots`.
    single_chars (str): Rule for words of one token, see `candidate_slots`.
    empty (str): What a token without words receives, see WordAttention.
    dropout (float): See the module WordBiLSTM.
    max_batch_tokens (int): Most tokens of a batch, padding included.
    """

    hidden_width: int = 300
    words: WordsFrom = "frozen"
    word_width: int = 50
    max_words: int = 5
    policy: Policy = "start"
    single_chars: SingleChars = "uncovered"
    empty: str = "zero"
    dropout: float = 0.5
    max_batch_tokens: int = 4096

    def __post_init__(self) -> None:
        for name in ("hidden_width", "word_width", "max_words", "max_batch_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)} is out of range: it must be at least 1.")
        for name, known in (("words", get_args(WordsFrom)), ("empty", EMPTY), ("policy", get_args(Policy))):
            if getattr(self, name) not in known:
                raise ValueError(f"Unknown {name} = {getattr(self, name)!r}. Choose one of {known}.")


def WordBiLSTMEncoder(
    tok2vec: Encoder,
    setup: WordBiLSTMSetup,
    *,
    mixed_precision: bool = False,
    grad_scaler_config: Optional[Dict[str, Any]] = None,
) -> Encoder:
    """Create the layer. The torch module is built when it is initialised or loaded.

    tok2vec (Model[List[Doc], List[Floats2d]]): The encoder before it.
    setup (WordBiLSTMSetup): The settings.
    mixed_precision (bool): See ModuleShim.
    grad_scaler_config (Optional[Dict[str, Any]]): See ModuleShim.
    RETURNS (Model[List[Doc], List[Floats2d]]): The layer, one row per token.
    """
    attrs: Dict[str, Any] = {"setup": setup}
    if setup.words == "finetuned":
        attrs[ATTRIBUTE] = TrainingTexts(tokens=False, texts=True)
    return Model(
        "word_bilstm",
        forward,
        init=init,
        layers=[LexiconCandidates(), tok2vec],
        shims=[ModuleShim(build_word_bilstm, mixed_precision=mixed_precision, grad_scaler_config=grad_scaler_config)],
        dims={"nO": 2 * setup.hidden_width},
        refs={"tok2vec": tok2vec},
        attrs=attrs,
    )


def init(model: Encoder, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    """Build the module, unless there is one."""
    lexicon_node, tok2vec = model.layers
    tok2vec.initialize(X=X)
    shim, setup = cast(ModuleShim, model.shims[0]), model.attrs["setup"]
    texts = model.attrs.get(ATTRIBUTE) or TrainingTexts(tokens=False, texts=False)
    if not shim.is_initialized:
        lexicon_node.predict([])  # raises where no lexicon is linked
        matcher = lexicon_node.attrs["link"].require().matcher
        if setup.words == "finetuned" and not texts.n_docs:
            texts.add(X or [])
        tuned = words_of_texts(matcher, texts.texts)
        width = tok2vec.maybe_get_dim("nO") or tok2vec.predict((X or [])[:1])[0].shape[1]
        module = shim.initialize(
            {
                "module": {
                    "width": width,
                    "word_width": matcher.lexicon.dim or setup.word_width,
                    "hidden_width": setup.hidden_width,
                    "n_tuned": len(tuned),
                    "dropout": setup.dropout,
                    "empty": setup.empty,
                },
                "lexicon_width": matcher.lexicon.dim,
            }
        )
        start_from_lexicon(cast(WordBiLSTM, module).words, matcher.lexicon, tuned)
    texts.clear()


def forward(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[List[Floats2d], Callable]:
    """Encode Docs."""
    if not any(len(doc) for doc in docs):
        return [model.ops.alloc2f(0, model.get_dim("nO")) for _ in docs], lambda gradients: []
    rows, backprop_rows = model.layers[1](docs, is_train)
    borders = np.cumsum([0, *(len(doc) for doc in docs)]).tolist()
    xp = model.ops.xp
    given = xp.concatenate([part for part, doc in zip(rows, docs) if len(doc)])
    vectors, backprop_vectors = run_batches(model, _batches(model, docs), len(given), is_train, given)

    def backprop(gradients: List[Floats2d]) -> List[Doc]:
        d_given = backprop_vectors(xp.concatenate(gradients))
        backprop_rows([d_given[begin:end] for begin, end in pairwise(borders)])
        return []

    return [vectors[begin:end] for begin, end in pairwise(borders)], backprop


def _batches(model: Encoder, docs: List[Doc]) -> Iterator[RowBatch]:
    shim, setup = cast(ModuleShim, model.shims[0]), model.attrs["setup"]
    module, settings = cast(WordBiLSTM, shim.module), cast(Dict[str, Any], shim.settings)
    words = join_words(docs, model.layers[0].predict(docs))
    table = WordTable.of(module.words, settings["lexicon_width"])
    for lexicon in words.lexicons:
        table.check(lexicon)
    lengths = np.array([len(doc) for doc in docs], "i8")
    slots = candidate_slots(
        words.first,
        words.last,
        int(lengths.sum()),
        setup.max_words,
        policy=setup.policy,
        single_chars=setup.single_chars,
    )
    numbered = words.numbered()
    starts = np.cumsum(lengths) - lengths
    present = np.flatnonzero(lengths)
    for index in batch_by_padding(lengths[present], setup.max_batch_tokens):
        chosen = present[index]
        steps = np.arange(lengths[chosen].max())
        inside = steps < lengths[chosen, None]
        places = np.where(inside, starts[chosen, None] + steps, 0)
        word_slots, distinct = distinct_words(
            np.where(inside[..., None], slots[places], 0), numbered, table, shim.device
        )
        kept, sizes = torch.from_numpy(np.flatnonzero(inside)), torch.from_numpy(lengths[chosen])
        tokens, rows = (torch.from_numpy(array).to(shim.device) for array in (places, word_slots))
        yield RowBatch(WordBatch(tokens, sizes, rows, distinct, kept.to(shim.device)), places[inside])
