"""What makes an entry unfit for a lexicon."""

import re
from typing import Optional

import numpy as np

MAX_FLOAT = float(np.finfo("f4").max)
UNFIT = re.compile("[\\s\0\ud800-\udfff]")


def find_fault(word: str, vector: Optional[np.ndarray], weight: float, dim: int, max_word_length: int) -> Optional[str]:
    """Say what is wrong with an entry.

    word (str): The word.
    vector (Optional[numpy.ndarray]): Its vector, in the type in which it would be stored.
    weight (float): Its weight.
    dim (int): Width that vectors must have; 0 for any.
    max_word_length (int): Length that words may have.
    RETURNS (Optional[str]): The reason, a key of REASONS; None if nothing is wrong. Raises TypeError for a word that is
        no string.
    """
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
    return None if abs(weight) <= MAX_FLOAT else "bad_weight"
