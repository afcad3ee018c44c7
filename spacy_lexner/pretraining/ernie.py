"""`spacy-lexner.PretrainERNIE.v1`: ERNIE's pretraining, for `spacy pretrain` (Zhang et al. 2019)."""

import logging
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, cast

import numpy as np
import torch
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from ..encoders.ernie.batches import PieceEntities, entity_tensors, mention_pieces, pad_entities
from ..encoders.ernie.entities import DocEntities, align_mentions, number_entities
from ..encoders.ernie.layer import check_linked_vectors
from ..encoders.ernie.model import ERNIE
from ..encoders.shared.shim import shim_of
from ..encoders.shared.wordpiece_encoder import wordpieces_of
from ..tensors.convert import tensor_of
from .masked_task import MaskedTask, MaskingOptions, Sequences, collect
from .masking import Masking
from .mlm import MASKING
from .objective import PretrainingBatch, build_objective
from .sentence_pairs import PairedDoc

logger = logging.getLogger(__name__)
NO_ENTITY = 0  # the row of the zero vector


@dataclass(frozen=True)
class EntityCorruption:
    """How the entities of a batch are corrupted (section 3.4 of the paper); the rest is kept."""

    replace_share: float = 0.05  # replaced by a random entity of the batch, possibly the same
    remove_share: float = 0.15  # removed, as if the mention were not aligned

    def __post_init__(self) -> None:
        if min(self.replace_share, self.remove_share) < 0 or self.replace_share + self.remove_share > 1:
            raise ValueError(
                f"replace_share is {self.replace_share}, remove_share is {self.remove_share}; expected shares of at "
                "least 0 whose sum is at most 1."
            )


def create_pretrain_ernie(
    replace_share: float = EntityCorruption.replace_share,
    remove_share: float = EntityCorruption.remove_share,
    min_entities: int = 0,
    masking: str = MASKING.unit,
    words: str = MaskingOptions.words,
    lexicon: Optional[str] = None,
    share: float = MASKING.share,
    mask_share: float = MASKING.mask_share,
    random_share: float = MASKING.random_share,
    max_predictions: Optional[int] = None,
    ngram_shares: Sequence[float] = MASKING.ngram_shares,
    next_sentence: bool = True,
    short_share: float = MaskingOptions.short_share,
    max_length: Optional[int] = None,
    seed: int = 0,
    resumable: bool = True,
    log_every: int = 100,
    log_path: Optional[str] = None,
    progress_bar: bool = True,
    total_updates: int = 0,
) -> Callable[[Vocab, Model], Model]:
    """Create the objective: masked language model, next sentence prediction, and a denoising entity auto-encoder, which
    predicts from the text which entity of the batch each mention refers to. The losses are added.

    Entities come from the encoder's own source: lexicon words, or `doc.ents` with a `kb_id_` (`.spacy` files keep
    these; plain text has none). All arguments except these three are those of `create_pretrain_mlm`.

    replace_share (float): Share of mentions whose entity is replaced by a random one of the batch.
    remove_share (float): Share of mentions whose entity is removed.
    min_entities (int): Sequences with fewer mentions are left out (the authors leave out those with fewer than 5).
    RETURNS (Callable[[Vocab, Model], Model]): Puts the objective on an encoder.
    """
    how = Masking(masking, share, mask_share, random_share, max_predictions, tuple(ngram_shares))
    options = MaskingOptions(how, words, lexicon, next_sentence, short_share, max_length, seed)
    task = partial(ErnieTask, options, EntityCorruption(replace_share, remove_share), min_entities)
    log = {"every": log_every, "path": log_path, "progress_bar": progress_bar, "total": total_updates}
    return partial(build_objective, task=task, log=log, resumable=resumable)


class CorruptedEntities(NamedTuple):
    """The distinct entities of a batch, and its mentions as rows of their table, in which row 0 is zeros."""

    candidates: np.ndarray  # the distinct entities in ascending order
    inputs: np.ndarray  # int64[n], the entity shown for each mention: NO_ENTITY or 1 + an index of candidates
    labels: np.ndarray  # int64[n], its real entity: 1 + an index of candidates


def corrupt_entities(entities: np.ndarray, corruption: EntityCorruption, rng: Random) -> CorruptedEntities:
    """Corrupt the entities of a batch's mentions (int64[n], in any numbering). Labels are those of the real entities,
    to be predicted from the text. Random numbers are drawn in the order of the authors' code."""
    replace, remove = corruption.replace_share, corruption.remove_share
    candidates, labels = np.unique(entities, return_inverse=True)
    labels = labels.reshape(-1).astype("int64") + 1
    inputs = labels.copy()
    for i in range(len(inputs)):
        drawn = rng.random()
        if drawn < replace:
            inputs[i] = rng.randint(1, len(candidates))
        elif drawn < replace + remove:
            inputs[i] = NO_ENTITY
    return CorruptedEntities(candidates, inputs, labels)


class AlignedEntities(NamedTuple):
    """The entities of a batch, corrupted."""

    shown: PieceEntities  # what the encoder sees
    labels: np.ndarray  # int64[n_pieces], rows of the candidates; 0 where no entity is aligned
    candidates: torch.Tensor  # float32[c, D], vectors of the distinct entities, after a row of zeros


class ErnieTask(MaskedTask):
    """Masks wordpieces, and corrupts the entities of the mentions (Zhang et al. 2019, section 3.4). A masked mention
    keeps its entity."""

    name = "spacy-lexner.PretrainERNIE.v1"
    encoder = "ernie"
    architecture = "spacy-lexner.ERNIE.v1"

    def __init__(self, options: MaskingOptions, corruption: EntityCorruption, min_entities: int = 0) -> None:
        """Create the task. Sequences with fewer than `min_entities` aligned entities are left out."""
        super().__init__(options)
        self.corruption = corruption
        self.min_entities = min_entities
        self._warned = False

    def head_settings(self, node: Model) -> Dict[str, Any]:
        settings = super().head_settings(node)
        settings["heads"]["entity_width"] = cast(ERNIE, shim_of(node).module).encoder.entity_width
        return settings

    def prepare(self, node: Model, docs: Sequence[Doc], *, exact: bool = False) -> Optional[PretrainingBatch]:
        check_linked_vectors(node)
        sequences, _ = self.read(node, docs)
        found = node.layers[0].predict(list(docs))
        if sequences.pairs is not None:
            found = [_entities_of_pair(pair, docs, found) for pair in sequences.pairs]
        aligned = self._align(node, sequences, found)
        n_aligned = np.append(0, np.cumsum(aligned.labels > 0))  # before each wordpiece
        windows = sequences.windows
        counts = n_aligned[windows.ends] - n_aligned[windows.starts]
        enough = counts >= self.min_entities
        if not enough.any():
            self._warn_once(counts)
        batches, targets = [], []
        device, max_tokens = shim_of(node).device, node.attrs["options"].max_batch_tokens
        for index, _ in sequences.batches(max_tokens):
            kept = index[enough[index]]
            if not len(kept):
                continue
            padded = pad_entities(windows.take(kept), sequences.shown, wordpieces_of(node), aligned.shown, device)
            batch, target = self.target(sequences, kept, *padded, aligned.labels)
            batches.append(batch)
            targets.append(target)
        return collect(batches, targets, aligned.candidates)

    def _warn_once(self, counts: np.ndarray) -> None:
        if not self._warned and len(counts):
            self._warned = True
            logger.warning(
                "No sequence of a batch of %d has min_entities = %d mentions of entities with a vector; the most is "
                "%d. Such a batch teaches nothing: lower min_entities, or check that texts and entities fit together.",
                len(counts),
                self.min_entities,
                counts.max(),
            )

    def _align(self, node: Model, sequences: Sequences, found: Sequence[DocEntities]) -> AlignedEntities:
        module = cast(ERNIE, shim_of(node).module)
        numbers, ids, vectors = number_entities(found)
        starts, ends = mention_pieces(sequences.docs, found, sequences.counts)
        pieces, mentions = align_mentions(starts, ends, node.attrs["options"].alignment)
        pieces, numbers = pieces[numbers[mentions] > 0], numbers[mentions][numbers[mentions] > 0]
        candidates, inputs, answers = corrupt_entities(numbers, self.corruption, self.rng)
        rows = np.concatenate([[0], candidates])  # of `vectors`, for each candidate of the head
        shown, labels = np.zeros(len(sequences.ids), "i8"), np.zeros(len(sequences.ids), "i8")
        shown[pieces], labels[pieces] = rows[inputs], answers
        given, tuned = entity_tensors(module, ids, vectors)
        known = module.entity_vectors(given, tuned).detach()[tensor_of(rows, given.device)]
        return AlignedEntities(PieceEntities(shown, given, tuned), labels, known)


def _entities_of_pair(pair: PairedDoc, docs: Sequence[Doc], found: Sequence[DocEntities]) -> DocEntities:
    """The mentions that begin in either segment, in characters of the pair, truncated at the segment's end."""
    parts = []
    for source, offset in zip(pair.sources, (0, pair.separator + 1)):
        entities, segment = found[source.doc], docs[source.doc][source.start : source.end]
        inside = np.flatnonzero((entities.starts >= segment.start_char) & (entities.starts < segment.end_char))
        shift = pair.doc[offset].idx - segment.start_char
        parts.append(
            DocEntities(
                entities.starts[inside] + shift,
                np.minimum(entities.ends[inside], segment.end_char) + shift,
                [entities.ids[i] for i in inside.tolist()],
                entities.vectors[inside],
                entities.known[inside],
            )
        )
    a, b = parts
    return DocEntities(
        np.concatenate([a.starts, b.starts]),
        np.concatenate([a.ends, b.ends]),
        a.ids + b.ids,
        np.concatenate([a.vectors, b.vectors]),
        np.concatenate([a.known, b.known]),
    )
