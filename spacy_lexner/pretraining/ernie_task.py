"""ERNIE's pretraining as a task of `spacy pretrain`: masked wordpieces, pairs of segments, denoised entities."""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model

from ..candidates.batch_words import DocWords
from ..encoders.ernie.batches import PieceEntities, entity_tensors, mention_pieces, pad_entities
from ..encoders.ernie.entities import DocEntities, align_mentions, number_entities
from ..encoders.ernie.layer import check_linked_vectors, lexicon_node
from ..encoders.ernie.model import ERNIE
from ..encoders.shared.shim import shim_of
from ..encoders.shared.windows import Windows
from ..encoders.shared.wordpiece_encoder import wordpieces_of
from .entity_corruption import EntityCorruption, corrupt_entities
from .heads.heads import MENTION
from .masked_task import MaskedTask, MaskingOptions, Sequences
from .objective import PretrainingBatch, join
from .paired_docs import PairedDoc


class AlignedEntities(NamedTuple):
    """The entities of a batch, corrupted.

    shown (PieceEntities): What the encoder sees.
    labels (numpy.ndarray): int64[n_pieces], rows of the candidates; 0 where no entity is aligned.
    candidates (torch.Tensor): float32[c, D], vectors of the distinct entities, after a row of zeros.
    """

    shown: PieceEntities
    labels: np.ndarray
    candidates: torch.Tensor


class ErnieTask(MaskedTask):
    """Masks wordpieces, and corrupts the entities of the mentions (Zhang et al. 2019, section 3.4). A masked mention
    keeps its entity."""

    name = "pretrain_ernie"

    def __init__(self, options: MaskingOptions, corruption: EntityCorruption, min_entities: int = 0) -> None:
        """Create the task.

        options (MaskingOptions): The settings of masking.
        corruption (EntityCorruption): How entities are corrupted.
        min_entities (int): Sequences with fewer aligned entities are left out.
        """
        super().__init__(options)
        self.corruption = corruption
        self.min_entities = min_entities

    def head_settings(self, module: ERNIE) -> Dict[str, Any]:
        return {"next_sentence": self.options.next_sentence, "entity_width": module.encoder.entity_width}

    def text_model(self, module: ERNIE) -> Any:
        return module.encoder.text

    def find_words(self, node: Model, docs: List[Doc]) -> Optional[List[DocWords]]:
        return lexicon_node(node).predict(docs)

    def prepare(self, node: Model, docs: Sequence[Doc]) -> PretrainingBatch:
        check_linked_vectors(node)
        sequences, _ = self.read(node, docs)
        found = node.layers[0].predict(list(docs))
        if sequences.pairs is not None:
            found = [_entities_of_pair(pair, docs, found) for pair in sequences.pairs]
        aligned = self._align(node, sequences, found)
        enough = _count(aligned.labels > 0, sequences.windows) >= self.min_entities
        inputs, wanted, entity_labels = [], [], []
        device, max_tokens = shim_of(node).device, node.attrs["options"].max_batch_tokens
        for every, all_windows in sequences.batches(max_tokens):
            index, windows = every[enough[every]], all_windows.take(enough[every])
            if not len(index):
                continue
            padded, pieces = pad_entities(windows, sequences.shown, wordpieces_of(node), aligned.shown, device)
            batch, asked = self.want(sequences, index, padded, pieces)
            mentioned = aligned.labels[pieces] > 0
            mentions = batch.kept.cpu().numpy()[mentioned]
            entity_labels.append(aligned.labels[pieces[mentioned]])
            kept = np.concatenate([asked.kept, mentions])
            roles = np.concatenate([asked.roles, np.full(len(mentions), MENTION)])
            inputs.append(batch._replace(kept=torch.from_numpy(kept).to(device)))
            wanted.append(asked._replace(roles=roles))
        return PretrainingBatch(
            inputs,
            join([asked.roles for asked in wanted]),
            join([asked.labels for asked in wanted]),
            join([asked.next_labels for asked in wanted]),
            aligned.candidates,
            join(entity_labels),
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
        known = module.entity_vectors(given, tuned).detach()[torch.from_numpy(rows).to(given.device)]
        return AlignedEntities(PieceEntities(shown, given, tuned), labels, known)


def _entities_of_pair(pair: PairedDoc, docs: Sequence[Doc], found: Sequence[DocEntities]) -> DocEntities:
    """The mentions that begin in either segment, in the characters of the pair. One that runs over is cut."""
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


def _count(marked: np.ndarray, windows: Windows) -> np.ndarray:
    before = np.concatenate([[0], np.cumsum(marked)])
    return before[windows.ends] - before[windows.starts]
