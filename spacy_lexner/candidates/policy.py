"""The candidate words that each token gets if their number is limited (LEBERT's slots)."""

from bisect import bisect_right
from heapq import heappop, heappush
from itertools import pairwise
from typing import List, Literal, get_args

import numpy as np

from ..lexicon.matcher import SingleChars, keep_single_chars
from .batch_words import expand_ranges

Policy = Literal["start", "token"]
POLICIES = get_args(Policy)
MANY_WORDS = 32  # covering a unit on average: more than real text has


def candidate_slots(
    starts: np.ndarray,
    ends: np.ndarray,
    n_units: int,
    max_words: int,
    *,
    policy: Policy = "start",
    single_chars: SingleChars = "keep",
) -> np.ndarray:
    """Give each unit at most `max_words` (>= 1) of the words that cover it: earlier starts first, then shorter words.

    starts, ends (numpy.ndarray): int[n], the units of each candidate, ascending by start, then by end.
    policy (str): "start": a word that finds no room at its first unit is dropped for all its units (the authors'
        code). "token": every unit keeps the first `max_words` words that cover it (yangjianxin1/LEBERT-NER-Chinese).
    single_chars (str): Rule for words of one unit (see `keep_single_chars`). With "start", "uncovered" looks only at
        the words that were not dropped, as the authors' code does.
    RETURNS (numpy.ndarray): int32[n_units, max_words], indices of candidates; -1 is empty.
    """
    if policy not in POLICIES:
        raise ValueError(f"policy = {policy!r}: expected one of {', '.join(POLICIES)}.")
    uncovered = single_chars == "uncovered" and policy == "start"
    kept = np.flatnonzero(keep_single_chars(starts, ends, "alone" if uncovered else single_chars))
    if policy == "start":
        kept = kept[_has_room_at_start(starts[kept], ends[kept], n_units, max_words, uncovered)]
    lengths = ends[kept] - starts[kept]
    if policy == "token" and lengths.sum() > MANY_WORDS * n_units:
        kept = kept[_has_room_anywhere(starts[kept], ends[kept], n_units, max_words)]
        lengths = ends[kept] - starts[kept]
    units = expand_ranges(starts[kept], lengths)
    order = np.argsort(units, kind="stable")
    numbers, units = np.repeat(kept, lengths)[order], units[order]
    rank = expand_ranges(np.zeros(n_units, "i8"), np.bincount(units, minlength=n_units))
    fits = rank < max_words
    slots = np.full((n_units, max_words), -1, "i4")
    slots[units[fits], rank[fits]] = numbers[fits]
    return slots


def _has_room_at_start(
    starts: np.ndarray, ends: np.ndarray, n_units: int, max_words: int, only_uncovered: bool
) -> np.ndarray:
    """The authors' rule: bool[n], whether a candidate finds room at its first unit. That depends on which earlier words
    were dropped, so the units where room may be short, and only those, are visited in order."""
    n_starting = np.bincount(starts, minlength=n_units)
    reach = np.bincount(starts + 1, minlength=n_units + 1) - np.bincount(ends, minlength=n_units + 1)
    n_reaching = np.cumsum(reach)[:n_units]  # candidates that started earlier and cover the unit
    doubtful = (n_starting > 0) & (n_starting + n_reaching > max_words)
    if only_uncovered:
        single = starts[ends - starts == 1]
        doubtful[single] |= n_reaching[single] > 0
    units = np.flatnonzero(doubtful)
    lows = np.cumsum(n_starting)[units] - n_starting[units]
    keep = np.ones(len(starts), bool)
    all_ends = ends.tolist()
    dropped: List[int] = []  # a heap: the ends of dropped candidates that may reach the unit
    for unit, low, n_own, n_earlier in zip(
        units.tolist(), lows.tolist(), n_starting[units].tolist(), n_reaching[units].tolist()
    ):
        while dropped and dropped[0] <= unit:
            heappop(dropped)
        n_covering = n_earlier - len(dropped)
        room = max_words - n_covering
        if only_uncovered and n_own == 1 and all_ends[low] == unit + 1 and n_covering:
            room = 0
        if room < n_own:
            keep[low + room : low + n_own] = False
            for end in all_ends[low + room : low + n_own]:
                heappush(dropped, end)
    return keep


def _has_room_anywhere(starts: np.ndarray, ends: np.ndarray, n_units: int, max_words: int) -> np.ndarray:
    """bool[n], whether a candidate is among the first `max_words` of any unit that it covers. The time is linear in
    candidates and free slots, not in the units of all candidates."""
    room = [max_words] * n_units
    after = list(range(n_units + 1))  # union-find: leads from a full unit towards the next one with room
    keep = np.zeros(len(starts), bool)
    all_ends = ends.tolist()
    firsts = np.flatnonzero(np.diff(starts, prepend=-1)).tolist()  # of the candidates of each start

    def next_with_room(unit: int) -> int:
        while after[unit] != unit:
            after[unit] = after[after[unit]]
            unit = after[unit]
        return unit

    for low, high in pairwise([*firsts, len(all_ends)]):
        unit = next_with_room(int(starts[low]))
        for i in range(bisect_right(all_ends, unit, low, high), high):
            at = unit
            while at < all_ends[i]:
                keep[i] = True
                room[at] -= 1
                if not room[at]:
                    after[at] = at + 1
                at = next_with_room(at + 1)
            unit = next_with_room(unit)
    return keep
