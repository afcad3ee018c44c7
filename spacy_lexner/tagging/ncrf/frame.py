"""The vectors of [CLS] and [SEP] before and after those of the tokens, for taggers whose paths begin and end there."""

from typing import Any, Callable, List, Tuple

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...encoders.shared.units import Encoder, UnitBatch, UnitRows, pool_tokens, run_batches, split_by_length
from ...encoders.shared.wordpiece_encoder import piece_borders, wordpieces_of
from ...tensors.convert import numpy_of


def FramedEncoder(encoder: Encoder) -> Encoder:
    """Wrap an encoder of wordpieces (LEBERT or ERNIE; raises ValueError for another): a Doc of n tokens has n + 2 rows,
    those of [CLS] and [SEP] first and last, in a long Doc those of its first and last window; an empty Doc has none."""
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
    made = encoder.attrs["make_batches"](encoder, docs, ids, counts, is_train)
    batches = (frame(batch, borders) for batch in made)
    rows, backprop_rows = run_batches(encoder, batches, len(ids) + 2 * len(docs), is_train)
    tokens, backprop_tokens = pool_tokens(encoder, UnitRows(rows[: len(ids)], counts))
    edges = rows[len(ids) :]
    framed = [
        xp.concatenate([edges[2 * i : 2 * i + 1], own, edges[2 * i + 1 : 2 * i + 2]]) if len(own) else own
        for i, own in enumerate(split_by_length(tokens, docs))
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


def frame(padded: UnitBatch, borders: np.ndarray) -> UnitBatch:
    """Also keep the vectors of [CLS] in the first window of each Doc, and of [SEP] in the last one; their rows follow
    those of all pieces, by Doc. `borders`, int64[n_docs + 1]: the first wordpieces of the Docs, and the end of the
    last."""
    batch: Any = padded.batch
    width = batch.attention_mask.shape[1]
    rows = numpy_of(batch.kept // width)
    ends = rows * width + numpy_of(batch.attention_mask.sum(1))[rows] - 1
    present = np.flatnonzero(np.diff(borders))
    kept, numbers = [batch.kept], [padded.rows]
    for pieces, places, edge in ((borders[:-1], rows * width, 0), (borders[1:] - 1, ends, 1)):
        _, where, which = np.intersect1d(padded.rows, pieces[present], return_indices=True)
        kept.append(batch.kept.new_tensor(places[where]))
        numbers.append(borders[-1] + 2 * present[which] + edge)
    return UnitBatch(batch._replace(kept=torch.cat(kept)), np.concatenate(numbers))
