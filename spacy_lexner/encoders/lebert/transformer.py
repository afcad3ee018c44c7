"""`spacy-lexner.LEBERTTransformer.v1`: LEBERT for the `transformer` pipe of spacy-transformers and its listeners."""

import inspect
from itertools import pairwise
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np
from spacy.tokens import Doc, Span
from spacy_transformers.data_classes import FullTransformerBatch, TransformerData, WordpieceBatch
from spacy_transformers.layers import split_trf_batch, trfs2arrays
from thinc.api import Model, chain
from thinc.types import Floats2d, Ragged
from thinc.util import get_torch_default_device
from transformers.modeling_outputs import BaseModelOutput

from ...candidates.batch_words import expand_ranges
from ...candidates.unit_docs import units_of_tokens
from ...tensors.convert import array_of, tensor_of
from ..shared.units import Encoder, read_units, run_batches, token_rows
from ..shared.wordpiece_encoder import piece_borders, wordpieces_of
from ..shared.wordpieces import Wordpieces
from .architecture import NO_OPTIONS, build_lebert_v1

Transformer = Model[List[Doc], FullTransformerBatch]
TOK2VEC_NAME = "spacy-lexner.Tok2VecLEBERTTransformer.v1"
MAX_ROW = 512


def build_lebert_transformer_v1(
    name: Optional[str] = None,
    get_spans: Optional[Callable] = None,
    tokenizer_config: Dict[str, Any] = NO_OPTIONS,
    transformer_config: Dict[str, Any] = NO_OPTIONS,
    mixed_precision: bool = False,
    grad_scaler_config: Dict[str, Any] = NO_OPTIONS,
    **settings: Any,
) -> Model[List[Doc], FullTransformerBatch]:
    """Build a LEBERT as a drop-in replacement for `spacy-transformers.TransformerModel.v3` in a pipeline with a shared
    `transformer` pipe and listeners.

    name (Optional[str]): Folder or hub name of the checkpoint: `checkpoint` of `build_lebert_v1`.
    get_spans (Optional[Callable]): Accepted for compatibility but ignored: the encoder cuts Docs into windows itself
        (`window`, `stride`), so that no token is lost.
    tokenizer_config (Dict[str, Any]): Likewise; may only contain `use_fast` and `model_max_length`.
    transformer_config (Dict[str, Any]): Likewise; must be empty, since dropouts have their own arguments.
    mixed_precision (bool), grad_scaler_config (Dict[str, Any]), settings (Any): As in `build_lebert_v1`, all of whose
        other arguments are accepted too.
    RETURNS (Model[List[Doc], FullTransformerBatch]): The model for the `transformer` pipe.
    """
    unused = {*tokenizer_config} - {"use_fast", "model_max_length"} | {*transformer_config}
    if unused:
        raise ValueError(
            f"spacy-lexner.LEBERTTransformer.v1 does not support the settings {', '.join(sorted(unused))} of "
            "tokenizer_config or transformer_config. Use its own arguments instead (lower_case, dropout, "
            "attention_dropout, gradient_checkpointing); the rest is read from the checkpoint."
        )
    encoder = build_lebert_v1(name, mixed_precision=mixed_precision, grad_scaler_config=grad_scaler_config, **settings)
    return LEBERTTransformer(encoder)


def _with_settings_of_lebert(build: Callable) -> inspect.Signature:
    """RETURNS (inspect.Signature): The signature for the validation and completion of configs, including LEBERT.v1's
    arguments."""
    own = [each for each in inspect.signature(build).parameters.values() if each.kind != inspect.Parameter.VAR_KEYWORD]
    known = {"checkpoint", *(each.name for each in own)}
    others = [each for each in inspect.signature(build_lebert_v1).parameters.values() if each.name not in known]
    return inspect.Signature([*own, *(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in others)])


build_lebert_transformer_v1.__signature__ = _with_settings_of_lebert(  # type: ignore[attr-defined]
    build_lebert_transformer_v1
)


def build_tok2vec_v1(
    transformer: Model[List[Doc], FullTransformerBatch],
    pooling: Model[Ragged, Floats2d],
    grad_factor: float = 1.0,
) -> Model[List[Doc], List[Floats2d]]:
    """Build the encoder of a component whose listener was replaced by a copy of the transformer
    (`nlp.replace_listeners`).

    transformer (Model[List[Doc], FullTransformerBatch]): The copy.
    pooling (Model[Ragged, Floats2d]): From the wordpieces of a token to its vector, as in the listener.
    grad_factor (float): Factor on the gradients that reach the transformer.
    RETURNS (Model[List[Doc], List[Floats2d]]): The encoder, one row per token.
    """
    return chain(replace_listener(transformer), trfs2arrays(pooling, grad_factor))


def LEBERTTransformer(encoder: Encoder) -> Transformer:
    """Wrap an encoder in the interface that the `transformer` pipe expects. Each wordpiece has one vector, however long
    the Doc; the rows of the output are consecutive parts of a Doc, not overlapping windows."""
    return Model(
        "lebert-transformer",
        forward,
        init=init,
        layers=[encoder],
        dims={"nO": encoder.get_dim("nO") if encoder.has_dim("nO") else None},
        attrs={"replace_listener": replace_listener, "replace_listener_cfg": replace_listener_cfg},
    )


def init(model: Transformer, X: Optional[List[Doc]] = None, Y: Any = None) -> None:
    encoder = model.layers[0]
    encoder.initialize(X=X)
    model.set_dim("nO", encoder.get_dim("nO"))


def forward(model: Transformer, docs: List[Doc], is_train: bool) -> Tuple[FullTransformerBatch, Callable]:
    """Encode Docs and write their wordpieces into rows."""
    encoder = model.layers[0]
    unit_docs = read_units(encoder, docs)
    ids, counts = wordpieces_of(encoder).encode(unit_docs)
    if not len(ids):
        return FullTransformerBatch.empty(len(docs)), lambda gradient: docs
    batches = encoder.attrs["make_batches"](encoder, unit_docs, ids, counts, is_train)
    vectors, backprop_vectors = run_batches(encoder, batches, len(ids), is_train)
    firsts, n_pieces = token_rows(counts, units_of_tokens(docs, unit_docs))
    rows = _write_rows(docs, firsts, np.diff(piece_borders(unit_docs, counts)))
    positions = model.ops.xp.asarray(rows.positions)
    hidden: Any = model.ops.alloc2f(rows.n_rows * rows.width, model.get_dim("nO"))
    hidden[positions] = vectors
    last_hidden_state: Any = tensor_of(hidden.reshape(rows.n_rows, rows.width, -1), get_torch_default_device())
    batch = FullTransformerBatch(
        spans=rows.spans,
        wordpieces=_wordpiece_batch(wordpieces_of(encoder), ids, rows),
        model_output=BaseModelOutput(last_hidden_state=last_hidden_state),
        align=Ragged(
            rows.positions[expand_ranges(firsts, n_pieces)].astype("i4"),  # type: ignore[arg-type]
            n_pieces.astype("i4"),  # type: ignore[arg-type]
        ),
    )

    def backprop(gradient: FullTransformerBatch) -> List[Doc]:
        d_hidden: Any = array_of(gradient.model_output.to_tuple()[0])
        backprop_vectors(d_hidden.reshape(-1, d_hidden.shape[-1])[positions])
        return docs

    return batch, backprop


def replace_listener(model: Transformer) -> Model[List[Doc], List[TransformerData]]:
    """RETURNS (Model[List[Doc], List[TransformerData]]): The layer around a copy of the model that replaces a
    listener."""
    return chain(model, split_trf_batch())


def replace_listener_cfg(transformer: Dict[str, Any], listener: Dict[str, Any]) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The config of that layer: that of the `transformer` pipe's model, with the listener's
    pooling."""
    kept: Dict[str, Any] = {key: listener[key] for key in ("pooling", "grad_factor") if key in listener}
    return {"@architectures": TOK2VEC_NAME, "transformer": dict(transformer), **kept}


class Rows(NamedTuple):
    """The layout of the wordpieces of Docs in rows; each Doc starts a new row."""

    n_rows: int
    width: int
    positions: np.ndarray  # int64[n_pieces], into the n_rows * width places
    spans: List[List[Span]]  # of each Doc, the tokens in each of its rows


def _write_rows(docs: List[Doc], firsts: np.ndarray, lengths: np.ndarray) -> Rows:
    """Lay out the wordpieces of Docs. `firsts` has the first wordpiece of each token, `lengths` the number of
    wordpieces of each Doc."""
    width = min(int(lengths.max()), MAX_ROW)
    n_rows = -(-lengths // width)
    spans: List[List[Span]] = []
    first_token = first_piece = 0
    for doc, length, n in zip(docs, lengths.tolist(), n_rows.tolist()):
        begins = first_piece + np.arange(n) * width
        stops = np.minimum(begins + width, first_piece + length) - 1
        first, last = (np.searchsorted(firsts, pieces, "right") - 1 - first_token for pieces in (begins, stops))
        spans.append([doc[i : j + 1] for i, j in zip(first.tolist(), last.tolist())])
        first_token += len(doc)
        first_piece += length
    row_starts = (np.cumsum(n_rows) - n_rows) * width
    piece_starts = np.cumsum(lengths) - lengths
    positions = np.arange(first_piece) + np.repeat(row_starts - piece_starts, lengths)
    return Rows(int(n_rows.sum()), width, positions, spans)


def _wordpiece_batch(wordpieces: Wordpieces, ids: np.ndarray, rows: Rows) -> WordpieceBatch:
    names = wordpieces.names(ids)
    padded = np.full(rows.n_rows * rows.width, wordpieces.pad, "i8")
    mask = np.zeros(rows.n_rows * rows.width, "f4")
    padded[rows.positions], mask[rows.positions] = ids, 1.0
    lengths = mask.reshape(rows.n_rows, rows.width).sum(axis=1).astype("i8").tolist()
    borders = np.cumsum([0, *lengths]).tolist()
    return WordpieceBatch(
        strings=[names[begin:end] for begin, end in pairwise(borders)],
        input_ids=padded.reshape(rows.n_rows, rows.width),  # type: ignore[arg-type]
        attention_mask=mask.reshape(rows.n_rows, rows.width),  # type: ignore[arg-type]
        lengths=lengths,
        token_type_ids=None,
    )
