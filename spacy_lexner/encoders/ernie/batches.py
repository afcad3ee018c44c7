"""Conversion of the mentions in Docs, and windows over their wordpieces, to ERNIE's input tensors."""

from typing import NamedTuple, Sequence, Tuple

import numpy as np
import torch
from spacy.tokens import Doc
from torch.nn import functional

from ...candidates.storage import place_spans
from ...lexicon.entry import hash_word
from ...lexicon.level import Candidates
from ...tensors.convert import numpy_of, tensor_of
from ..shared.units import UnitBatch
from ..shared.windows import Windows
from ..shared.wordpiece_encoder import pad_pieces
from ..shared.wordpieces import Wordpieces
from ..shared.words import find_rows
from .entities import Alignment, DocEntities, align_mentions, number_entities
from .model import ERNIE, ERNIEBatch


class PieceEntities(NamedTuple):
    """The entities of a batch of Docs, whose wordpieces are concatenated."""

    shown: np.ndarray  # int64[n_pieces], the entity aligned to each wordpiece; 0 for none or one without a vector
    vectors: torch.Tensor  # float32[1 + U, D], of the distinct entities, after a row of zeros
    tuned: torch.Tensor  # int64[1 + U], their rows in the fine-tuned table, or -1


def place_entities(
    docs: Sequence[Doc], found: Sequence[DocEntities], counts: np.ndarray, module: ERNIE, alignment: Alignment
) -> PieceEntities:
    """Align the mentions of Docs to wordpieces, `counts` of them per token. For `alignment` see `align_mentions`."""
    numbers, ids, vectors = number_entities(found)
    starts, ends = mention_pieces(docs, found, counts)
    pieces, mentions = align_mentions(starts, ends, alignment)
    shown = np.zeros(int(counts.sum()), "i8")
    shown[pieces] = numbers[mentions]
    return PieceEntities(shown, *entity_tensors(module, ids, vectors))


def mention_pieces(
    docs: Sequence[Doc], found: Sequence[DocEntities], counts: np.ndarray
) -> Tuple[np.ndarray, np.ndarray]:
    """RETURNS (Tuple[numpy.ndarray, numpy.ndarray]): The wordpieces of all mentions in the Docs: their starts and ends,
    half-open, int64[n] each."""
    none = np.zeros(0, "u8")
    spans = [Candidates(entities.starts, entities.ends, none) for entities in found]
    starts, ends, _ = place_spans(docs, spans, counts)  # mentions begin and end with tokens
    return starts, ends


def entity_tensors(module: ERNIE, ids: Sequence[str], vectors: np.ndarray) -> Tuple[torch.Tensor, torch.Tensor]:
    """RETURNS (Tuple[Tensor, Tensor]): On the module's device, the vectors of distinct entities after a row of zeros,
    float32[1 + U, D], and their rows in its fine-tuned table, int64[1 + U], or -1."""
    if not vectors.shape[1]:
        vectors = np.zeros((1, module.encoder.entity_width), "f4")
    table = numpy_of(module.tuned_hashes).view("u8")
    rows = np.append(-1, find_rows(table, np.array([hash_word(entity_id) for entity_id in ids], "u8")))
    device = module.tuned.device
    return tensor_of(vectors, device), tensor_of(rows, device)


def pad_entities(
    windows: Windows, ids: np.ndarray, wordpieces: Wordpieces, entities: PieceEntities, device: torch.device
) -> UnitBatch:
    """Make the ERNIEBatch of some windows, and note which wordpieces it keeps; see LEBERT's `pad_windows`. An entity is
    in the windows that contain the wordpiece it is aligned to."""
    padded, pieces = pad_pieces(windows, ids, wordpieces, device)
    places, inside, _ = windows.pad()
    shown = tensor_of(np.where(inside, entities.shown[places], 0), device)
    shown = functional.pad(shown, (1, 1))  # [CLS] and [SEP] show none
    return UnitBatch(ERNIEBatch(*padded, shown, entities.vectors, entities.tuned), pieces)
