"""Which candidate words a token gets, when it may have only so many."""

from heapq import heappop, heappush
from typing import List, Literal, get_args

import numpy as np

from ..lexicon.single_chars import SingleChars, keep_single_chars

Policy = Literal["start", "token"]
POLICIES = get_args(Policy)


def candidate_slots(
    first: np.ndarray,
    last: np.ndarray,
    n_tokens: int,
    max_words: int,
    *,
    policy: Policy = "start",
    single_chars: SingleChars = "keep",
) -> np.ndarray:
    """Give each token the candidate words that cover it, those that start earlier first, then the shorter ones.

    first (numpy.ndarray): int[n], first token of each candidate, ascending.
    last (numpy.ndarray): int[n], last token (inclusive), ascending among candidates of the same first token.
    n_tokens (int): Number of tokens.
    max_words (int): Most words of a token, at least 1.
    policy (str): "start": a token's words are cut where they start; what finds no room there is dropped for all of its
        tokens (the authors' code). "token": every token keeps the first of all words that cover it
        (yangjianxin1/LEBERT-NER-Chinese).
    single_chars (str): Rule for words of one token (see `keep_single_chars`). With "start", "uncovered" looks at the
        words that were not dropped, as the authors' code does.
    RETURNS (numpy.ndarray): int32[n_tokens, max_words], candidates numbered from 1 in the order given; 0 is empty.
    """
    if policy not in POLICIES:
        raise ValueError(f"Unknown policy={policy!r} for candidate words. Choose one of {POLICIES}.")
    uncovered = single_chars == "uncovered" and policy == "start"
    kept = np.flatnonzero(keep_single_chars(first, last + 1, "alone" if uncovered else single_chars))
    if policy == "start":
        kept = kept[_room_at_start(first[kept], last[kept], n_tokens, max_words, uncovered)]
    lengths = last[kept] - first[kept] + 1
    ends = np.cumsum(lengths)
    numbers = np.repeat(kept + 1, lengths)
    tokens = np.arange(len(numbers)) + np.repeat(first[kept] - ends + lengths, lengths)
    order = np.argsort(tokens, kind="stable")
    numbers, tokens = numbers[order], tokens[order]
    n_words = np.bincount(tokens, minlength=n_tokens)
    rank = np.arange(len(tokens)) - np.repeat(np.cumsum(n_words) - n_words, n_words)
    fits = rank < max_words
    slots = np.zeros((n_tokens, max_words), "i4")
    slots[tokens[fits], rank[fits]] = numbers[fits]
    return slots


def _room_at_start(
    first: np.ndarray, last: np.ndarray, n_tokens: int, max_words: int, only_uncovered: bool
) -> np.ndarray:
    """The authors' rule: bool[n], whether a candidate finds room at its first token. What it finds there depends on
    what was dropped before; so the tokens where room could be short are walked in order, and only those."""
    n_starting = np.bincount(first, minlength=n_tokens)
    reach = np.bincount(first + 1, minlength=n_tokens + 1) - np.bincount(last + 1, minlength=n_tokens + 1)
    n_reaching = np.cumsum(reach)[:n_tokens]  # candidates that started earlier and cover the token
    doubtful = (n_starting > 0) & (n_starting + n_reaching > max_words)
    if only_uncovered:
        doubtful[first[(first == last)]] |= n_reaching[first[(first == last)]] > 0
    starts = np.flatnonzero(doubtful)
    lows = np.cumsum(n_starting)[starts] - n_starting[starts]
    keep = np.ones(len(first), bool)
    lasts = last.tolist()
    dropped: List[int] = []  # a heap: the last tokens of dropped candidates that may reach the token
    for start, low, n_own, n_earlier in zip(
        starts.tolist(), lows.tolist(), n_starting[starts].tolist(), n_reaching[starts].tolist()
    ):
        while dropped and dropped[0] < start:
            heappop(dropped)
        n_covering = n_earlier - len(dropped)
        room = max_words - n_covering
        if only_uncovered and n_own == 1 and lasts[low] == start and n_covering:
            room = 0
        if room < n_own:
            keep[low + room : low + n_own] = False
            for end in lasts[low + room : low + n_own]:
                heappush(dropped, end)
    return keep
