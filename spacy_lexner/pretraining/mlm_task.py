"""The masked language model as a task of `spacy pretrain`, for a LEBERT."""

from typing import Any, Dict, List, Optional, Sequence

import torch
from spacy.tokens import Doc
from thinc.api import Model

from ..candidates.lexicon_node import DocCandidates
from ..encoders.lebert.batches import pad_windows
from ..encoders.lebert.layer import place_candidates
from ..encoders.lebert.model import LEBERT
from ..encoders.shared.piece_encoder import shim_of, wordpieces_of
from .masked_docs import hide_masked
from .masked_task import MaskedTask
from .objective import PretrainingBatch, join


class MLMTask(MaskedTask):
    """Masks wordpieces, and hides the candidate words that would give them away."""

    name = "pretrain_mlm"

    def head_settings(self, module: LEBERT) -> Dict[str, Any]:
        return {"next_sentence": self.options.next_sentence}

    def text_model(self, module: LEBERT) -> Any:
        return module.encoder

    def find_words(self, node: Model, docs: List[Doc]) -> Optional[List[DocCandidates]]:
        return node.layers[0].predict(docs) if node.layers else None

    def prepare(self, node: Model, docs: Sequence[Doc]) -> PretrainingBatch:
        sequences, candidates = self.read(node, docs)
        placed, table = None, None
        if candidates is not None:
            visible = hide_masked(sequences.docs, candidates, sequences.counts, sequences.selected)
            placed, table = place_candidates(node, sequences.docs, visible, sequences.counts)
        inputs, wanted = [], []
        device, max_tokens = shim_of(node).device, node.attrs["options"].max_batch_tokens
        for index, windows in sequences.batches(max_tokens):
            padded = pad_windows(windows, sequences.shown, wordpieces_of(node), placed, table, device)
            batch, asked = self.want(sequences, index, *padded)
            inputs.append(batch._replace(kept=torch.from_numpy(asked.kept).to(device)))
            wanted.append(asked)
        return PretrainingBatch(
            inputs,
            join([asked.roles for asked in wanted]),
            join([asked.labels for asked in wanted]),
            join([asked.next_labels for asked in wanted]),
        )
