"""The wordpieces of a batch of Docs for masking: the words they belong to, the windows to read, and what is masked."""

from random import Random
from typing import Optional, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc

from ..candidates.batch_words import BatchWords
from ..candidates.unit_docs import is_space
from ..encoders.shared.windows import Windows
from ..encoders.shared.wordpieces import Wordpieces
from .masking import NO_WORD, Masking, mask_pieces

WORD_SOURCES = ("tokens", "lexicon")


def word_numbers(docs: Sequence[Doc], counts: np.ndarray, words: Optional[BatchWords]) -> np.ndarray:
    """Number the words that wordpieces belong to: int64[n_pieces], ascending over all Docs; NO_WORD for white space,
    which is never predicted.

    docs (Sequence[Doc]): The Docs.
    counts (Ints[n_tokens]): Wordpieces of each token, over all Docs.
    words (Optional[BatchWords]): Lexicon words on tokens, which segment the Docs. None: tokens are words.
    """
    numbers = np.arange(len(counts)) if words is None else longest_words(words.starts, words.ends, len(counts))
    space = np.concatenate([np.zeros(0, bool), *map(is_space, docs)])
    return np.repeat(np.where(space, NO_WORD, numbers), counts)


def longest_words(starts: np.ndarray, ends: np.ndarray, n_tokens: int) -> np.ndarray:
    """Segment tokens by forward maximum matching: from left to right, always the longest lexicon word. Returns the
    number of each token's word, int64[n_tokens], ascending from 0. If no lexicon word begins at a token, the token is a
    word."""
    reach = np.arange(1, n_tokens + 1)
    np.maximum.at(reach, starts, ends)
    begins = np.zeros(n_tokens, "i8")
    ends_of = reach.tolist()
    token = 0
    while token < n_tokens:
        begins[token] = 1
        token = ends_of[token]
    return np.cumsum(begins) - 1


def even_windows(lengths: np.ndarray, size: int) -> Windows:
    """Cut sequences of these lengths into windows of nearly equal length, at most `size`, without overlap."""
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
    """Mask each window as a sequence of its own. Returns the wordpieces as the encoder sees them, int64[n_pieces], and
    which of them to predict, bool[n_pieces]. `words` numbers the word of each wordpiece in `ids`."""
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
