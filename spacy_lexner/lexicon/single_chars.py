"""Which words of one character are candidates: the rules of the published systems."""

from typing import Literal, get_args

import numpy as np

SingleChars = Literal["keep", "drop", "alone", "uncovered"]
RULES = get_args(SingleChars)


def keep_single_chars(starts: np.ndarray, ends: np.ndarray, rule: SingleChars) -> np.ndarray:
    """Choose among the words found in a text, ordered by start, then by end.

    starts, ends (numpy.ndarray): int[n], first character, and one past the last.
    rule (str): Which words of one character stay.
        "keep": all.
        "drop": none (FLAT, `drop_characters`).
        "alone": those where no longer word starts (yangjianxin1/LEBERT-NER-Chinese).
        "uncovered": of these, those that no word with an earlier start covers (liuwei1206/LEBERT).
    RETURNS (numpy.ndarray): bool[n].
    """
    single = ends - starts == 1
    if rule == "keep":
        return np.ones(len(starts), bool)
    if rule == "drop":
        return ~single
    last_of_start = np.append(starts[1:] != starts[:-1], np.ones(min(1, len(starts)), bool))
    keep = ~single | last_of_start
    if rule == "uncovered":
        reached = np.maximum.accumulate(np.where(single, 0, ends))
        covered = np.append(np.zeros(min(1, len(starts)), bool), reached[:-1] > starts[1:])
        keep &= ~(single & covered)
    return keep
