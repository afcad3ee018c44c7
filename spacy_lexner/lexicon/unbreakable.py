"""Runs of characters that are never cut: Latin words, numbers, flags and composed signs."""

import re
from typing import Tuple

import numpy as np

LETTER = "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u03ff\u0400-\u052f\u1e00-\u1fff"
WIDE_LETTER = "\uff21-\uff3a\uff41-\uff5a"
DIGIT = "0-9\uff10-\uff19"
MARK = "\u0300-\u036f\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef"

# Letters of the Latin, Greek and Cyrillic alphabets and digits, of either width, in any mixture (iPhone15, H1N1); a
# number continues past a decimal point and a comma before three digits (3.14, 1,000,000) and includes its percent sign.
# Two regional indicators are a flag. Combining marks, variation selectors, skin tones and tags belong to the character
# before them, and a zero-width joiner joins its neighbours, but neither crosses NUL, which separates texts. Every
# repeated part begins with a character of its own, so the time is linear.
WORD = f"[{LETTER}{WIDE_LETTER}{DIGIT}][{LETTER}{WIDE_LETTER}{DIGIT}{MARK}]*"
NUMBER_GOES_ON = f"(?<=[{DIGIT}])(?:[.\uff0e](?=[{DIGIT}])|,(?=[{DIGIT}]{{3}}(?![{DIGIT}]))){WORD}"
PERCENT = f"(?<=[{DIGIT}])[%\uff05\u2030]"
FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
BASE = f"[^\\s{MARK}\u200d\0]"
SIGN = f"{BASE}(?:[{MARK}]|\u200d{BASE})+"
UNBREAKABLE = re.compile(f"{WORD}(?:{NUMBER_GOES_ON})*(?:{PERCENT})?|{FLAG}|{SIGN}")


def find_unbreakable(text: str) -> Tuple[np.ndarray, np.ndarray]:
    """Find where the runs of characters that are never cut start and end, int64[n_runs] each. A word may be longer than
    a run (T恤), but not shorter."""
    spans = np.array([match.span() for match in UNBREAKABLE.finditer(text)], dtype="i8").reshape(-1, 2)
    return spans[:, 0], spans[:, 1]


def is_unbreakable(text: str, positions: np.ndarray) -> np.ndarray:
    """For each position in a text, whether it lies inside such a run; bool, shaped like `positions`."""
    starts, ends = find_unbreakable(text)
    if not len(starts):
        return np.zeros(positions.shape, bool)
    run = np.searchsorted(starts, positions, "left") - 1  # the last run that starts before the position
    return (run >= 0) & (positions < ends[run])
