"""Masking: selects the wordpieces that a masked language model must predict, and what it sees instead."""

from bisect import bisect
from itertools import accumulate
from random import Random
from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

MASKING_UNITS = ("piece", "whole_word", "ngram")
NO_WORD = -1  # the word number of [CLS], [SEP] and padding: never masked

MACBERT_NGRAMS = (0.4, 0.3, 0.2, 0.1)  # Cui et al. 2020, section 3


class Masking(NamedTuple):
    """How wordpieces are masked. The defaults are BERT's (Devlin et al. 2019, section 3.1)."""

    unit: str = "piece"  # one of MASKING_UNITS
    share: float = 0.15  # of all wordpieces of a sequence, including [CLS] and [SEP]
    mask_share: float = 0.8  # of the selected pieces: replaced by [MASK]
    random_share: float = 0.1  # of the selected pieces: replaced by any entry of the vocabulary; the rest is kept
    max_predictions: Optional[int] = None  # per sequence
    ngram_shares: Tuple[float, ...] = MACBERT_NGRAMS  # weights of n-grams of 1, 2, ... words


class MaskedPieces(NamedTuple):
    """A masked sequence."""

    input_ids: np.ndarray  # int64[L], the sequence as the encoder sees it
    positions: np.ndarray  # int64[n], the selected pieces, ascending
    labels: np.ndarray  # int64[n], the original pieces there


def check_masking(masking: Masking) -> None:
    """Raise ValueError for invalid settings."""
    if masking.unit not in MASKING_UNITS:
        raise ValueError(f"masking is {masking.unit!r}; expected one of {', '.join(MASKING_UNITS)}.")
    if not 0 < masking.share < 1:
        raise ValueError(f"share is {masking.share}; expected a number between 0 and 1.")
    if masking.mask_share < 0 or masking.random_share < 0 or masking.mask_share + masking.random_share > 1:
        raise ValueError(
            f"mask_share is {masking.mask_share}, random_share is {masking.random_share}; expected shares of at "
            "least 0 whose sum is at most 1."
        )
    if masking.max_predictions is not None and masking.max_predictions < 1:
        raise ValueError(f"max_predictions is {masking.max_predictions}; expected at least 1, or null for no limit.")
    if not masking.ngram_shares or min(masking.ngram_shares) < 0 or not sum(masking.ngram_shares) > 0:
        raise ValueError(
            f"ngram_shares is {list(masking.ngram_shares)}; expected a weight of at least 0 for each length from 1 on, "
            "not all of them 0."
        )


def prediction_budget(n_pieces: int, masking: Masking) -> int:
    """How many wordpieces to predict in a sequence (`n_pieces` includes [CLS] and [SEP]): the rounded share (halves
    to even), at least one. It is an upper bound: whole words that do not fit are skipped."""
    budget = max(1, round(n_pieces * masking.share))
    return budget if masking.max_predictions is None else min(masking.max_predictions, budget)


def mask_pieces(
    ids: np.ndarray, words: np.ndarray, masking: Masking, rng: Random, *, mask_id: int, vocab_size: int
) -> MaskedPieces:
    """Mask one sequence. The result has no positions if nothing can be masked.

    Random numbers are drawn in the order of the original data script, so that a `random.Random` in the same state gives
    the same result (for pieces and whole words; the original's n-grams draw from another generator).

    ids (Ints[L]): Wordpieces, including [CLS] and [SEP].
    words (Ints[L]): The number of each piece's word; NO_WORD where nothing may be masked. Chinese vocabularies mark no
        continuation, so words come from elsewhere: a segmenter or a lexicon.
    mask_id (int): Id of [MASK].
    """
    budget = prediction_budget(len(ids), masking)
    groups, ahead = _groups(words, single=masking.unit == "piece")
    if masking.unit == "ngram":
        selected = _select_ngrams(groups, ahead, budget, masking.ngram_shares, rng)
    else:
        selected = _select_groups(groups, budget, rng)
    input_ids = np.array(ids, dtype="int64")
    for position in selected:
        if rng.random() < masking.mask_share:
            input_ids[position] = mask_id
        elif rng.random() >= 1 - masking.random_share / (1 - masking.mask_share):
            input_ids[position] = rng.randrange(vocab_size)
    positions = np.array(sorted(selected), dtype="int64")
    return MaskedPieces(input_ids, positions, np.asarray(ids, dtype="int64")[positions])


def _groups(words: np.ndarray, *, single: bool) -> Tuple[List[List[int]], List[int]]:
    """The pieces of each word, and the number of words from it to the next unmaskable piece, itself included."""
    groups: List[List[int]] = []
    index_of = {}
    ends_run: List[int] = []  # index of the first group after each special piece
    for position, word in enumerate(words.tolist()):
        if word == NO_WORD:
            ends_run.append(len(groups))
        elif single or word not in index_of:
            index_of[word] = len(groups)
            groups.append([position])
        else:
            groups[index_of[word]].append(position)
    ends_run.append(len(groups))
    ahead = [ends_run[bisect(ends_run, i)] - i for i in range(len(groups))]
    return groups, ahead


def _select_groups(groups: List[List[int]], budget: int, rng: Random) -> List[int]:
    rng.shuffle(groups)
    selected: List[int] = []
    for group in groups:
        if len(selected) >= budget:
            break
        if len(selected) + len(group) <= budget:
            selected.extend(group)
    return selected


def _select_ngrams(
    groups: List[List[int]], ahead: List[int], budget: int, shares: Sequence[float], rng: Random
) -> List[int]:
    """As ALBERT: draw a length for each first word, shorten it until it fits, and drop it if it overlaps another."""
    cumulated = list(accumulate(shares))
    starts = list(range(len(groups)))
    rng.shuffle(starts)
    selected: List[int] = []
    covered = [False] * len(groups)
    for start in starts:
        if len(selected) >= budget:
            break
        longest = min(len(shares), ahead[start])
        length = 1 + bisect(cumulated, rng.random() * cumulated[longest - 1], hi=longest - 1)
        sizes = list(accumulate(len(group) for group in groups[start : start + length]))
        length = bisect(sizes, budget - len(selected))
        if length and not any(covered[start : start + length]):
            covered[start : start + length] = [True] * length
            selected.extend(position for group in groups[start : start + length] for position in group)
    return selected
