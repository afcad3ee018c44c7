"""Which tokens make one word, for texts whose tokens are characters."""

import numpy as np


def longest_words(first: np.ndarray, last: np.ndarray, n_tokens: int) -> np.ndarray:
    """Segment a text with the lexicon words found in it: from left to right, always the longest word.

    first (Ints[n]): First token of each candidate word.
    last (Ints[n]): Its last token (inclusive).
    n_tokens (int): Number of tokens.
    RETURNS (Ints[n_tokens]): The number of the word that each token belongs to, ascending from 0. A token that no word
        begins at, where one could begin, is a word of its own.
    """
    reach = np.arange(n_tokens)
    np.maximum.at(reach, np.asarray(first, dtype="int64"), np.asarray(last, dtype="int64"))
    starts = np.zeros(n_tokens, dtype="int64")
    ends = reach.tolist()
    token = 0
    while token < n_tokens:
        starts[token] = 1
        token = ends[token] + 1
    return np.cumsum(starts) - 1


def covers_any(first: np.ndarray, last: np.ndarray, positions: np.ndarray, n: int) -> np.ndarray:
    """Say which candidate words cover at least one of some positions.

    first (Ints[m]): First position of each candidate.
    last (Ints[m]): Its last position (inclusive).
    positions (Ints[k]): The positions, each in range(n).
    n (int): Number of positions in all.
    RETURNS (Bools[m]): Whether a candidate covers one.
    """
    marked = np.zeros(n + 1, dtype="int64")
    marked[np.asarray(positions, dtype="int64") + 1] = 1
    before = np.cumsum(marked)
    return before[np.asarray(last) + 1] > before[np.asarray(first)]
