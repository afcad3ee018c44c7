"""Conversion of windows over the wordpieces of Docs to LEBERT's input tensors."""

from typing import Optional, Tuple

import numpy as np
import torch
from torch.nn import functional

from ...candidates.batch_words import BatchWords
from ..shared.units import UnitBatch
from ..shared.windows import Windows
from ..shared.word_attention import pad_slots
from ..shared.wordpiece_encoder import pad_pieces
from ..shared.wordpieces import Wordpieces
from ..shared.words import WordTable
from .model import LEBERTBatch

# The words of a batch; the numbers of each wordpiece's words, int[n_pieces, W], -1 for none; the module's word table.
ChosenWords = Tuple[BatchWords, np.ndarray, WordTable]


def pad_windows(
    windows: Windows, ids: np.ndarray, wordpieces: Wordpieces, chosen: Optional[ChosenWords], device: torch.device
) -> UnitBatch:
    """Make the LEBERTBatch of some windows over `ids`, the wordpieces of all Docs (int64[n_pieces]), and note which
    wordpieces it keeps. `chosen` holds the words, if the model reads any; a window omits words that extend beyond
    it."""
    padded, pieces = pad_pieces(windows, ids, wordpieces, device)
    batch = LEBERTBatch(*padded)
    if chosen is not None:
        words, slots, table = chosen
        rows, distinct = pad_slots(windows, slots, words, table, device)
        batch = batch._replace(slots=functional.pad(rows, (0, 0, 1, 1)), words=distinct)  # [CLS] and [SEP] have none
    return UnitBatch(batch, pieces)
