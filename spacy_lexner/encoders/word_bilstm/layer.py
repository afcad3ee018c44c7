"""WordBiLSTM as a thinc layer: the token vectors of any encoder and candidate words, through a bidirectional LSTM."""

from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, cast

import numpy as np
from spacy.tokens import Doc

from ...candidates.batch_words import place_words
from ...candidates.lexicon_node import training_matcher
from ...candidates.policy import candidate_slots
from ...candidates.training_texts import ATTRIBUTE, TrainingTexts
from ...tensors.convert import tensor_of
from ..shared.shim import ModuleShim, settings_of, shim_of
from ..shared.units import Encoder, UnitBatch, UnitEncoder, UnitRows, run_batches, split_by_length
from ..shared.windows import LSTM_BATCH_COST, batch_by_padding, cut_windows
from ..shared.word_attention import pad_slots
from ..shared.words import WordTable
from .model import WordBatch, WordBiLSTM, build_word_bilstm
from .setup import WordBiLSTMSetup


def WordBiLSTMEncoder(
    tok2vec: Encoder,
    setup: WordBiLSTMSetup,
    *,
    mixed_precision: bool = False,
    grad_scaler_config: Optional[Dict[str, Any]] = None,
) -> Encoder:
    """The layer after another encoder, one row per token; see `build_word_bilstm_v1`."""
    attrs: Dict[str, Any] = {"setup": setup}
    if setup.words == "finetuned":
        attrs[ATTRIBUTE] = TrainingTexts(tokens=False, texts=True)
    return UnitEncoder(
        "word_bilstm",
        encode_tokens,
        init,
        ModuleShim(
            build_word_bilstm,
            reads=["lexicon_width"],
            mixed_precision=mixed_precision,
            grad_scaler_config=grad_scaler_config,
        ),
        nodes={"lexicon": setup.lexicon.node(), "tok2vec": tok2vec},
        attrs=attrs,
        width=2 * setup.hidden_width,
    )


def init(model: Encoder, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    """Initialise the inner encoder, and build the module if there is none yet."""
    lexicon, tok2vec = model.layers
    tok2vec.initialize(X=X)
    shim = shim_of(model)
    texts = model.attrs.get(ATTRIBUTE) or TrainingTexts(tokens=False, texts=False)
    if not shim.is_initialized:
        setup: WordBiLSTMSetup = model.attrs["setup"]
        matcher = training_matcher(lexicon, reads_labels=setup.lexicon.labels)
        width = tok2vec.maybe_get_dim("nO") or tok2vec.predict((X or [])[:1])[0].shape[1]
        setup.build(shim, X or [], texts, matcher, width)
    texts.clear()


def encode_tokens(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[UnitRows, Callable[[Any], Any]]:
    """RETURNS (Tuple[UnitRows, Callable[[Any], Any]]): The vectors of all tokens, and a callback for their gradient."""
    counts = np.ones(sum(map(len, docs)), "i8")
    if not len(counts):
        return UnitRows(model.ops.alloc2f(0, model.get_dim("nO")), counts), lambda gradient: None
    rows, backprop_rows = model.layers[1](docs, is_train)
    given = model.ops.xp.concatenate([part for part, doc in zip(rows, docs) if len(doc)])
    batches = make_batches(model, docs, counts, is_train)
    vectors, backprop_vectors = run_batches(model, batches, len(counts), is_train, given)

    def backprop(gradient: Any) -> None:
        backprop_rows(split_by_length(backprop_vectors(gradient), docs))

    return UnitRows(vectors, counts), backprop


def make_batches(model: Encoder, docs: List[Doc], counts: np.ndarray, is_train: bool = False) -> Iterator[UnitBatch]:
    """YIELDS (UnitBatch): Padded batches of whole Docs of similar length."""
    setup, device = model.attrs["setup"], shim_of(model).device
    words = place_words(docs, model.layers[0](docs, is_train)[0], counts)
    slots = candidate_slots(
        words.starts, words.ends, len(counts), setup.max_words, policy=setup.policy, single_chars=setup.single_chars
    )
    table = WordTable.of(cast(WordBiLSTM, shim_of(model).module).words, settings_of(model))
    whole = cut_windows(np.array([len(doc) for doc in docs], "i8"), len(counts), len(counts))
    for index in batch_by_padding(whole.lengths, setup.max_batch_tokens, LSTM_BATCH_COST):
        windows = whole.take(index)
        places, inside, _ = windows.pad()
        rows, distinct = pad_slots(windows, slots, words, table, device)
        tokens, kept = (tensor_of(array, device) for array in (places, np.flatnonzero(inside)))
        batch = WordBatch(tokens, tensor_of(windows.lengths), rows, distinct, kept)
        yield UnitBatch(batch, places[inside])
