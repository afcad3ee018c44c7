"""The vectors of [CLS] and [SEP] before and behind those of the tokens, for taggers whose paths begin and end there."""

from itertools import pairwise
from typing import Any, Callable, List, Tuple, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...encoders.shared.piece_encoder import (
    Encoder,
    PaddedBatch,
    PieceVectors,
    encode_batches,
    piece_borders,
    pool_tokens,
    wordpieces_of,
)


def FramedEncoder(encoder: Encoder) -> Encoder:
    """Create the layer around an encoder of wordpieces.

    encoder (Model[List[Doc], List[Floats2d]]): The encoder (LEBERT or ERNIE). Raises ValueError for another.
    RETURNS (Model[List[Doc], List[Floats2d]]): Of a Doc with n tokens n + 2 rows, those of [CLS] and [SEP] first and
        last; of one without tokens, none. In a long Doc they are those of the first and of the last window.
    """
    if "make_batches" not in encoder.attrs:
        raise ValueError(
            f"The encoder {encoder.name!r} has no [CLS] and [SEP]: give one of wordpieces, such as "
            "spacy-lexner.LEBERT.v1."
        )
    return Model("framed_encoder", forward, init=init, layers=[encoder], dims={"nO": None})


def init(model: Encoder, X: Any = None, Y: Any = None) -> None:
    encoder = model.layers[0]
    encoder.initialize(X=X)
    model.set_dim("nO", encoder.get_dim("nO"))


def forward(model: Encoder, docs: List[Doc], is_train: bool) -> Tuple[List[Floats2d], Callable]:
    encoder, xp = model.layers[0], model.ops.xp
    ids, counts = wordpieces_of(encoder).encode(docs)
    borders = piece_borders(docs, counts)
    batches = (frame(batch, borders) for batch in encoder.attrs["make_batches"](encoder, docs, ids, counts))
    rows, backprop_rows = encode_batches(encoder, batches, len(ids) + 2 * len(docs), is_train)
    tokens, backprop_tokens = pool_tokens(encoder, PieceVectors(rows[: len(ids)], ids, counts))
    edges = rows[len(ids) :]
    spans = list(pairwise(np.cumsum([0, *(len(doc) for doc in docs)]).tolist()))
    framed = [
        xp.concatenate([edges[2 * i : 2 * i + 1], tokens[begin:end], edges[2 * i + 1 : 2 * i + 2]])
        if begin < end
        else tokens[begin:end]
        for i, (begin, end) in enumerate(spans)
    ]

    def backprop(gradients: List[Floats2d]) -> List[Doc]:
        if len(ids):
            d_edges = xp.zeros_like(edges)
            for i, gradient in enumerate(gradients):
                if len(gradient):
                    d_edges[2 * i : 2 * i + 2] = gradient[[0, -1]]
            d_tokens = backprop_tokens(xp.concatenate([gradient[1:-1] for gradient in gradients]))
            backprop_rows(xp.concatenate([d_tokens, d_edges]))
        return []

    return framed, backprop


def frame(padded: PaddedBatch, borders: np.ndarray) -> PaddedBatch:
    """Also keep the vectors of [CLS] in the first window of each Doc, and of [SEP] in the last one.

    padded (PaddedBatch): A batch of windows, as the modules of wordpieces take it.
    borders (numpy.ndarray): int64[n_docs + 1], the first wordpiece of each Doc, and one past the last.
    RETURNS (PaddedBatch): The batch. The rows of [CLS] and [SEP] stand behind those of all pieces, by Doc.
    """
    batch: Any = padded.batch
    width = batch.attention_mask.shape[1]
    rows = (batch.kept // width).cpu().numpy()
    ends = rows * width + batch.attention_mask.sum(1).cpu().numpy()[rows] - 1
    present = np.flatnonzero(np.diff(borders))
    kept, numbers = [batch.kept], [padded.pieces]
    for pieces, places, edge in ((borders[:-1], rows * width, 0), (borders[1:] - 1, ends, 1)):
        _, where, which = np.intersect1d(padded.pieces, pieces[present], return_indices=True)
        kept.append(batch.kept.new_tensor(places[where]))
        numbers.append(borders[-1] + 2 * present[which] + edge)
    batch = batch._replace(kept=torch.cat(kept))
    return cast(Any, padded)._replace(batch=batch, pieces=np.concatenate(numbers))
