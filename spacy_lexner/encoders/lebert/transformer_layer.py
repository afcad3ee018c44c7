"""LEBERT for the `transformer` pipe of spacy-transformers: what its listeners expect, and how they are replaced."""

from itertools import pairwise
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np
from spacy.tokens import Doc, Span
from spacy_transformers.data_classes import FullTransformerBatch, TransformerData, WordpieceBatch
from spacy_transformers.layers import split_trf_batch
from thinc.api import Model, chain
from thinc.types import Ragged
from thinc.util import torch2xp, xp2torch
from transformers.modeling_outputs import BaseModelOutput

from ..shared.units import Encoder, run_batches
from ..shared.wordpiece_encoder import wordpieces_of
from ..shared.wordpieces import Wordpieces

Transformer = Model[List[Doc], FullTransformerBatch]
TOK2VEC_NAME = "spacy-lexner.Tok2VecLEBERTTransformer.v1"
MAX_ROW = 512


def LEBERTTransformer(encoder: Encoder) -> Transformer:
    """Wrap an encoder so that the `transformer` pipe can hold it.

    encoder (Encoder): What LEBERTEncoder gives.
    RETURNS (Model[List[Doc], FullTransformerBatch]): The model. Every wordpiece of a Doc has one vector, whatever the
        length of the Doc; rows of the output are no windows but lines that a Doc is written in.
    """
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
    ids, counts = wordpieces_of(encoder).encode(docs)
    if not len(ids):
        return FullTransformerBatch.empty(len(docs)), lambda gradient: docs
    batches = encoder.attrs["make_batches"](encoder, docs, ids, counts)
    vectors, backprop_vectors = run_batches(encoder, batches, len(ids), is_train)
    rows = _write_rows(docs, counts)
    positions = model.ops.xp.asarray(rows.positions)
    hidden: Any = model.ops.alloc2f(rows.n_rows * rows.width, model.get_dim("nO"))
    hidden[positions] = vectors
    last_hidden_state: Any = xp2torch(hidden.reshape(rows.n_rows, rows.width, -1))
    batch = FullTransformerBatch(
        spans=rows.spans,
        wordpieces=_wordpiece_batch(wordpieces_of(encoder), ids, rows),
        model_output=BaseModelOutput(last_hidden_state=last_hidden_state),
        align=Ragged(rows.positions.astype("i4"), counts.astype("i4")),  # type: ignore[arg-type]
    )

    def backprop(gradient: FullTransformerBatch) -> List[Doc]:
        d_hidden: Any = torch2xp(gradient.model_output.to_tuple()[0])
        backprop_vectors(d_hidden.reshape(-1, d_hidden.shape[-1])[positions])
        return docs

    return batch, backprop


def replace_listener(model: Transformer) -> Model[List[Doc], List[TransformerData]]:
    """What stands in the place of a listener that is replaced by a copy of the model.

    model (Transformer): The copy.
    RETURNS (Model[List[Doc], List[TransformerData]]): The layer.
    """
    return chain(model, split_trf_batch())


def replace_listener_cfg(transformer: Dict[str, Any], listener: Dict[str, Any]) -> Dict[str, Any]:
    """The config that belongs to it: the same model, with the pooling of the listener.

    transformer (Dict[str, Any]): Config of the model in the `transformer` pipe.
    listener (Dict[str, Any]): Config of the listener's layer.
    RETURNS (Dict[str, Any]): Config of the layer that replaces it.
    """
    kept: Dict[str, Any] = {key: listener[key] for key in ("pooling", "grad_factor") if key in listener}
    return {"@architectures": TOK2VEC_NAME, "transformer": dict(transformer), **kept}


class Rows(NamedTuple):
    """How the wordpieces of Docs are written into rows, each Doc beginning a new one.

    n_rows, width (int): Shape of the whole.
    positions (numpy.ndarray): int64[n_pieces], where each piece stands in it.
    spans (List[List[Span]]): For each row of each Doc the tokens in it.
    """

    n_rows: int
    width: int
    positions: np.ndarray
    spans: List[List[Span]]


def _write_rows(docs: List[Doc], counts: np.ndarray) -> Rows:
    ends = np.cumsum(counts)
    lengths, spans = [], []
    offset = 0
    for doc in docs:
        lengths.append(int(counts[offset : offset + len(doc)].sum()))
        offset += len(doc)
    width = min(max(lengths), MAX_ROW)
    n_rows = [-(-length // width) for length in lengths]
    first_token = first_piece = 0
    for doc, length, n in zip(docs, lengths, n_rows):
        begins = first_piece + np.arange(n) * width
        stops = np.minimum(begins + width, first_piece + length) - 1
        first = np.searchsorted(ends, begins, "right") - first_token
        last = np.searchsorted(ends, stops, "right") - first_token
        spans.append([doc[i : j + 1] for i, j in zip(first.tolist(), last.tolist())])
        first_token += len(doc)
        first_piece += length
    row_starts = (np.cumsum(n_rows) - n_rows) * width
    piece_starts = np.cumsum(lengths) - lengths
    positions = np.arange(first_piece) + np.repeat(row_starts - piece_starts, lengths)
    return Rows(sum(n_rows), width, positions, spans)


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
