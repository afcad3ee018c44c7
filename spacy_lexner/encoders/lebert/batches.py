"""From the Docs of a batch to the tensors that LEBERT reads."""

from typing import List, NamedTuple, Optional, Sequence

import numpy as np
import torch
from spacy.tokens import Doc

from ...candidates.lexicon_node import DocCandidates
from ...candidates.policy import Policy, candidate_slots
from ...lexicon.lexicon import Lexicon
from ...lexicon.single_chars import SingleChars
from ..shared.padded_pieces import pad_pieces
from ..shared.windows import Windows
from ..shared.word_table import WordTable, distinct_words, join_words
from ..shared.wordpieces import Wordpieces
from .model import LEBERTBatch


class PieceWords(NamedTuple):
    """The candidate words of a batch of Docs, on wordpieces that lie one after the other in one array.

    slots (numpy.ndarray): int32[n_pieces, W], candidates by number; 0 is empty.
    first, last (numpy.ndarray): int64[1 + n], first and last piece of each candidate. Row 0 is the empty slot.
    hashes (numpy.ndarray): uint64[1 + n].
    lengths (numpy.ndarray): int64[1 + n], in characters.
    source (numpy.ndarray): int64[1 + n], which of the lexicons a candidate belongs to.
    lexicons (List[Lexicon]): The lexicons: one, unless it was swapped while the Docs were on their way.
    """

    slots: np.ndarray
    first: np.ndarray
    last: np.ndarray
    hashes: np.ndarray
    lengths: np.ndarray
    source: np.ndarray
    lexicons: List[Lexicon]


def place_words(
    docs: Sequence[Doc],
    candidates: Sequence[DocCandidates],
    counts: np.ndarray,
    *,
    max_words: int,
    policy: Policy,
    single_chars: SingleChars,
) -> PieceWords:
    """Place the candidate words of Docs on their wordpieces.

    docs (Sequence[Doc]): The Docs.
    candidates (Sequence[DocCandidates]): The candidates of each.
    counts (numpy.ndarray): int64[n_tokens], pieces of each token, over all Docs.
    max_words, policy, single_chars: As in `candidate_slots`.
    RETURNS (PieceWords): The words. Each piece of a token has the token's words.
    """
    joined = join_words(docs, candidates)
    slots = candidate_slots(joined.first, joined.last, len(counts), max_words, policy=policy, single_chars=single_chars)
    ends = np.cumsum(counts)
    zero = np.zeros(1, "i8")
    return PieceWords(
        np.repeat(slots, counts, axis=0) if len(counts) and counts.max() > 1 else slots,
        np.concatenate([zero, (ends - counts)[joined.first]]),
        np.concatenate([zero, ends[joined.last] - 1]),
        np.concatenate([zero.astype("u8"), joined.hashes]),
        np.concatenate([zero, joined.lengths]),
        np.concatenate([zero, joined.source]),
        joined.lexicons,
    )


class PaddedWindows(NamedTuple):
    """A batch of windows, ready for the module.

    batch (LEBERTBatch): The tensors.
    pieces (numpy.ndarray): int64[N], to which wordpiece each vector belongs that the module gives.
    """

    batch: LEBERTBatch
    pieces: np.ndarray


def pad_windows(
    windows: Windows,
    ids: np.ndarray,
    wordpieces: Wordpieces,
    words: Optional[PieceWords],
    table: Optional[WordTable],
    device: torch.device,
) -> PaddedWindows:
    """Make the tensors of a batch of windows.

    windows (Windows): The windows of the batch.
    ids (numpy.ndarray): int64[n_pieces], the wordpieces of all Docs.
    wordpieces (Wordpieces): The lookup they came from.
    words (Optional[PieceWords]): The candidate words, if the model reads any. A word that does not lie in a window with
        all its characters stays out of it.
    table (Optional[WordTable]): How the model knows words.
    device (torch.device): Where the tensors go.
    RETURNS (PaddedWindows): The batch.
    """
    padded = pad_pieces(windows, ids, wordpieces, device)
    slots, distinct = None, None
    if words is not None and table is not None:
        found = words.slots[padded.positions[padded.inside]]
        row = np.nonzero(padded.inside)[0][:, None]
        whole = (words.first[found] >= windows.starts[row]) & (words.last[found] < windows.ends[row])
        found, distinct = distinct_words(np.where(whole, found, 0), words, table, device)
        all_slots = np.zeros((*padded.input_ids.shape, found.shape[1]), "i8")
        all_slots[:, 1:-1][padded.inside] = found
        slots = torch.from_numpy(all_slots).to(device)
    batch = LEBERTBatch(padded.input_ids, padded.attention_mask, padded.kept, slots, distinct)
    return PaddedWindows(batch, padded.pieces)
