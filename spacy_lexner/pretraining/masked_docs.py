"""The wordpieces of a batch of Docs, some of them masked, and the candidate words that do not give them away."""

from random import Random
from typing import List, Optional, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc

from ..candidates.lexicon_node import DocCandidates
from ..encoders.shared.windows import Windows
from ..encoders.shared.wordpieces import Wordpieces
from ..tagging.spans.word_borders import is_space
from .masking import NO_WORD, Masking, mask_pieces
from .whole_words import covers_any, longest_words

WORD_SOURCES = ("tokens", "lexicon")


def word_numbers(docs: Sequence[Doc], counts: np.ndarray, candidates: Optional[Sequence[DocCandidates]]) -> np.ndarray:
    """Number the words that wordpieces belong to.

    docs (Sequence[Doc]): The Docs.
    counts (Ints[n_tokens]): Wordpieces of each token, over all Docs.
    candidates (Optional[Sequence[DocCandidates]]): Lexicon words, which cut each Doc into words, the longest first;
        None: tokens are words.
    RETURNS (Ints[n_pieces]): Numbers, ascending over all Docs. NO_WORD for white space, which is nothing to predict.
    """
    parts: List[np.ndarray] = [np.zeros(0, "i8")]
    n_words = 0
    for i, doc in enumerate(docs):
        found = None if candidates is None else candidates[i]
        numbers = np.arange(len(doc)) if found is None else longest_words(found.first, found.last, len(doc))
        parts.append(np.where(is_space(doc), NO_WORD, numbers + n_words))
        n_words += len(doc)
    return np.repeat(np.concatenate(parts), counts)


def even_windows(lengths: np.ndarray, size: int) -> Windows:
    """Cut sequences into windows of nearly the same length that do not overlap.

    lengths (Ints[m]): The lengths of the sequences.
    size (int): The largest window.
    RETURNS (Windows): The windows.
    """
    lengths = np.asarray(lengths, "i8")
    n_windows = -(-lengths // size)
    offsets = np.repeat(np.cumsum(lengths) - lengths, n_windows)
    index = np.arange(n_windows.sum()) - np.repeat(np.cumsum(n_windows) - n_windows, n_windows)
    length, n = np.repeat(lengths, n_windows), np.repeat(n_windows, n_windows)
    starts, ends = offsets + index * length // n, offsets + (index + 1) * length // n
    return Windows(starts, ends, starts, ends)


def mask_docs(
    ids: np.ndarray, words: np.ndarray, windows: Windows, masking: Masking, rng: Random, wordpieces: Wordpieces
) -> Tuple[np.ndarray, np.ndarray]:
    """Mask each window as a sequence of its own.

    ids (Ints[n_pieces]): The wordpieces of all Docs.
    words (Ints[n_pieces]): The words they belong to.
    windows (Windows): The windows.
    masking (Masking): How to mask.
    rng (Random): Source of chance.
    wordpieces (Wordpieces): The vocabulary.
    RETURNS (Tuple[Ints[n_pieces], Bools[n_pieces]]): The wordpieces as the encoder sees them, and which of them are to
        be predicted.
    """
    masked_ids, selected = ids.copy(), np.zeros(len(ids), bool)
    cls, sep, special = np.array([wordpieces.cls]), np.array([wordpieces.sep]), np.array([NO_WORD])
    for start, end in zip(windows.starts.tolist(), windows.ends.tolist()):
        masked = mask_pieces(
            np.concatenate([cls, ids[start:end], sep]),
            np.concatenate([special, words[start:end], special]),
            masking,
            rng,
            mask_id=wordpieces.mask,
            vocab_size=len(wordpieces),
        )
        masked_ids[start:end] = masked.input_ids[1:-1]
        selected[start + masked.positions - 1] = True
    return masked_ids, selected


def hide_masked(
    docs: Sequence[Doc], candidates: Sequence[DocCandidates], counts: np.ndarray, selected: np.ndarray
) -> List[DocCandidates]:
    """Take out the candidate words that cover a masked wordpiece: they would give it away.

    docs (Sequence[Doc]): The Docs.
    candidates (Sequence[DocCandidates]): The candidates of each.
    counts (Ints[n_tokens]): Wordpieces of each token, over all Docs.
    selected (Bools[n_pieces]): The wordpieces that are to be predicted, kept and replaced ones among them.
    RETURNS (List[DocCandidates]): What the encoder may see.
    """
    tokens = np.unique(np.repeat(np.arange(len(counts)), counts)[selected])
    visible, offset = [], 0
    for doc, found in zip(docs, candidates):
        begin, end = np.searchsorted(tokens, [offset, offset + len(doc)])
        keep = ~covers_any(found.first, found.last, tokens[begin:end] - offset, len(doc))
        visible.append(found._replace(first=found.first[keep], last=found.last[keep], hashes=found.hashes[keep]))
        offset += len(doc)
    return visible
