"""What makes an entry unfit for a lexicon."""

import re
from typing import Optional

import numpy as np

from .entry import LexiconEntry
from .rules import are_rules

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
    vector = entry.vector
    fault = find_word_fault(entry.word, max_word_length)
    if fault is not None:
        return fault
    if vector is not None and not (vector.ndim == 1 and len(vector) == (dim or len(vector) or -1)):
        return "bad_vector"
    if vector is not None and not np.isfinite(vector).all():
        return "bad_vector"
    if not abs(entry.weight) <= MAX_FLOAT:
        return "bad_weight"
    return "bad_rule" if entry.rules and not are_rules(entry.rules) else None


def find_word_fault(word: str, max_word_length: int) -> Optional[str]:
    """Say what is wrong with a word.

    word (str): The word.
    max_word_length (int): Length that words may have.
    RETURNS (Optional[str]): The reason, a key of REASONS; None if nothing is wrong. Raises TypeError for what is no
        string.
    """
    if not isinstance(word, str):
        raise TypeError(f"A word of a lexicon is a str; got {type(word).__name__} ({word!r:.80}).")
    if not word:
        return "empty"
    unfit = UNFIT.search(word)
    if unfit is not None:
        return "white_space" if unfit[0].isspace() else "nul" if unfit[0] == "\0" else "not_unicode"
    return "too_long" if len(word) > max_word_length else None
