"""From the Docs of a batch to the tensors that ERNIE reads."""

from typing import NamedTuple, Sequence, Tuple

import numpy as np
import torch
from spacy.tokens import Doc

from ...lexicon.entry import hash_word
from ..shared.padded_pieces import pad_pieces
from ..shared.windows import Windows
from ..shared.wordpieces import Wordpieces
from .entities import Alignment, DocEntities, align_mentions, number_entities
from .windowed import ERNIE, ERNIEBatch


class PieceEntities(NamedTuple):
    """The entities of a batch of Docs, on wordpieces that lie one after the other in one array.

    shown (numpy.ndarray): int64[n_pieces], the entity aligned to each wordpiece; 0 for none, and for entities without a
        vector.
    vectors (torch.Tensor): float32[1 + U, D], vectors of the distinct entities, after a row of zeros.
    tuned (torch.Tensor): int64[1 + U], their rows in the fine-tuned table, or -1.
    """

    shown: np.ndarray
    vectors: torch.Tensor
    tuned: torch.Tensor


class PaddedEntities(NamedTuple):
    """A batch of windows, ready for the module.

    batch (ERNIEBatch): The tensors.
    pieces (numpy.ndarray): int64[N], to which wordpiece each vector belongs that the module gives.
    """

    batch: ERNIEBatch
    pieces: np.ndarray


def place_entities(
    docs: Sequence[Doc], found: Sequence[DocEntities], counts: np.ndarray, module: ERNIE, alignment: Alignment
) -> PieceEntities:
    """Place the entities of Docs on their wordpieces.

    docs (Sequence[Doc]): The Docs.
    found (Sequence[DocEntities]): The mentions of each.
    counts (numpy.ndarray): int64[n_tokens], pieces of each token, over all Docs.
    module (ERNIE): Has the fine-tuned entities.
    alignment (str): See `align_mentions`.
    RETURNS (PieceEntities): The entities.
    """
    numbers, ids, vectors = number_entities(found)
    first, last = mention_pieces(docs, found, counts)
    pieces, mentions = align_mentions(first, last, alignment)
    shown = np.zeros(int(counts.sum()), "i8")
    shown[pieces] = numbers[mentions]
    device = module.tuned.device
    if not vectors.shape[1]:
        vectors = np.zeros((1, module.encoder.entity_width), "f4")
    return PieceEntities(shown, torch.from_numpy(vectors).to(device), tuned_rows(module, ids).to(device))


def mention_pieces(
    docs: Sequence[Doc], found: Sequence[DocEntities], counts: np.ndarray
) -> Tuple[np.ndarray, np.ndarray]:
    """RETURNS (Tuple[numpy.ndarray, numpy.ndarray]): int64[n] each, the first and the last wordpiece of every mention
    of all Docs.
    """
    ends = np.cumsum(counts)
    offsets = np.cumsum([0, *(len(doc) for doc in docs)])
    none = np.zeros(0, "i8")
    first = np.concatenate([none, *(entities.first + offset for entities, offset in zip(found, offsets))])
    last = np.concatenate([none, *(entities.last + offset for entities, offset in zip(found, offsets))])
    return (ends - counts)[first], ends[last] - 1


def pad_entities(
    windows: Windows, ids: np.ndarray, wordpieces: Wordpieces, entities: PieceEntities, device: torch.device
) -> PaddedEntities:
    """Make the tensors of a batch of windows. An entity is seen by the windows that hold the wordpiece it is shown on.

    windows (Windows): The windows of the batch.
    ids (numpy.ndarray): int64[n_pieces], the wordpieces of all Docs.
    wordpieces (Wordpieces): The lookup they came from.
    entities (PieceEntities): The entities.
    device (torch.device): Where the tensors go.
    RETURNS (PaddedEntities): The batch.
    """
    padded = pad_pieces(windows, ids, wordpieces, device)
    shown = np.zeros(tuple(padded.input_ids.shape), "i8")
    shown[:, 1:-1][padded.inside] = entities.shown[padded.positions[padded.inside]]
    batch = ERNIEBatch(
        padded.input_ids,
        padded.attention_mask,
        padded.kept,
        torch.from_numpy(shown).to(device),
        entities.vectors,
        entities.tuned,
    )
    return PaddedEntities(batch, padded.pieces)


def tuned_rows(module: ERNIE, ids: Sequence[str]) -> torch.Tensor:
    """RETURNS (torch.Tensor): int64[1 + U], the rows of entities in the fine-tuned table, or -1; row 0 is no entity."""
    known = module.tuned_hashes.cpu().numpy().view("u8")  # type: ignore[operator]
    hashes = np.array([hash_word(entity_id) for entity_id in ids], "u8")
    rows = np.searchsorted(known, hashes)
    found = rows < len(known)
    found[found] = known[rows[found]] == hashes[found]
    return torch.from_numpy(np.concatenate([[-1], np.where(found, rows, -1)]).astype("i8"))
