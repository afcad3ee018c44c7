"""The wordpieces of a batch of Docs: the words they belong to, the sequences they are read in, and their masking."""

from random import Random
from typing import Optional, Sequence, Tuple

import numpy as np
from spacy.tokens import Doc

from ..candidates.batch_words import BatchWords
from ..encoders.shared.windows import Windows
from ..encoders.shared.wordpieces import Wordpieces
from ..tagging.spans.word_borders import is_space
from .masking import NO_WORD, Masking, mask_pieces

WORD_SOURCES = ("tokens", "lexicon")


def word_numbers(docs: Sequence[Doc], counts: np.ndarray, words: Optional[BatchWords]) -> np.ndarray:
    """Number the words that wordpieces belong to.

    docs (Sequence[Doc]): The Docs.
    counts (Ints[n_tokens]): Wordpieces of each token, over all Docs.
    words (Optional[BatchWords]): Lexicon words on tokens, which cut the Docs into words; None: tokens are words.
    RETURNS (Ints[n_pieces]): Numbers, ascending over all Docs. NO_WORD for white space, which is nothing to predict.
    """
    numbers = np.arange(len(counts)) if words is None else longest_words(words.starts, words.ends, len(counts))
    space = np.concatenate([np.zeros(0, bool), *map(is_space, docs)])
    return np.repeat(np.where(space, NO_WORD, numbers), counts)


def longest_words(starts: np.ndarray, ends: np.ndarray, n_tokens: int) -> np.ndarray:
    """Segment tokens with the lexicon words found in them: from left to right, always the longest word.

    starts, ends (Ints[n]): Tokens of each candidate word.
    n_tokens (int): Number of tokens.
    RETURNS (Ints[n_tokens]): The number of the word that each token belongs to, ascending from 0. A token that no word
        begins at, where one could begin, is a word of its own.
    """
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
    rng (Random): Random numbers.
    wordpieces (Wordpieces): The vocabulary.
    RETURNS (Tuple[Ints[n_pieces], Bools[n_pieces]]): The wordpieces as the encoder sees them, and those to predict.
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
