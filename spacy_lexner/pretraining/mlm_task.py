"""The masked language model as a task of `spacy pretrain`, for a LEBERT."""

from typing import Any, Dict, List, Optional, Sequence

import torch
from spacy.tokens import Doc
from thinc.api import Model

from ..candidates.batch_words import DocWords, place_words
from ..encoders.lebert.batches import pad_windows
from ..encoders.lebert.layer import choose_words
from ..encoders.lebert.model import LEBERT
from ..encoders.shared.shim import shim_of
from ..encoders.shared.wordpiece_encoder import wordpieces_of
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

    def find_words(self, node: Model, docs: List[Doc]) -> Optional[List[DocWords]]:
        return node.layers[0].predict(docs) if node.layers else None

    def prepare(self, node: Model, docs: Sequence[Doc]) -> PretrainingBatch:
        sequences, found = self.read(node, docs)
        chosen = None
        if found is not None:
            words = place_words(sequences.docs, found, sequences.counts)
            chosen = choose_words(node, hide_masked(words, sequences.selected), sequences.ids)
        inputs, wanted = [], []
        device, max_tokens = shim_of(node).device, node.attrs["options"].max_batch_tokens
        for index, windows in sequences.batches(max_tokens):
            padded = pad_windows(windows, sequences.shown, wordpieces_of(node), chosen, device)
            batch, asked = self.want(sequences, index, *padded)
            inputs.append(batch._replace(kept=torch.from_numpy(asked.kept).to(device)))
            wanted.append(asked)
        return PretrainingBatch(
            inputs,
            join([asked.roles for asked in wanted]),
            join([asked.labels for asked in wanted]),
            join([asked.next_labels for asked in wanted]),
        )
