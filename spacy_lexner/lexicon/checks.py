"""What makes an entry unfit for a lexicon."""

import re
from typing import Optional

import numpy as np

from .entry import LexiconEntry
from .rules import find_rule_fault

MAX_FLOAT = float(np.finfo("f4").max)
UNFIT = re.compile("[\\s\0\ud800-\udfff]")


def find_fault(entry: LexiconEntry, dim: int, max_word_length: int) -> Optional[str]:
    """Say what is wrong with an entry.

    entry (LexiconEntry): The entry, its vector in the type in which it would be stored.
    dim (int): Width that vectors must have; 0 for any.
    max_word_length (int): Length that words may have.
    RETURNS (Optional[str]): The reason, a key of REASONS; None if nothing is wrong. Raises TypeError for a word that is
        no string.
    """
    word, vector = entry.word, entry.vector
    if not isinstance(word, str):
        raise TypeError(f"A word of a lexicon is a str; got {type(word).__name__} ({word!r:.80}).")
    if not word:
        return "empty"
    unfit = UNFIT.search(word)
    if unfit is not None:
        return "white_space" if unfit[0].isspace() else "nul" if unfit[0] == "\0" else "not_unicode"
    if len(word) > max_word_length:
        return "too_long"
    if vector is not None and not (vector.ndim == 1 and len(vector) == (dim or len(vector) or -1)):
        return "bad_vector"
    if vector is not None and not np.isfinite(vector).all():
        return "bad_vector"
    if not abs(entry.weight) <= MAX_FLOAT:
        return "bad_weight"
    return "bad_rule" if any(map(find_rule_fault, entry.rules)) else None
