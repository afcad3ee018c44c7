"""One word of a lexicon, and what is known about it."""

from typing import NamedTuple, Optional

import numpy as np

from .rules import Rules


class LexiconEntry(NamedTuple):
    """A word and what is known about it.

    word (str): The word, without white space.
    vector (Optional[numpy.ndarray]): float[dim], its embedding.
    weight (float): A frequency, a prior probability, or whatever ranks words.
    label (str): A type or a part of speech.
    entity_id (str): The entity in a knowledge base that the word names.
    rules (Tuple[Rule, ...]): What its occurrences are, whatever a model thinks (see `lexicon.rules`).
    """

    word: str
    vector: Optional[np.ndarray] = None
    weight: float = 1.0
    label: str = ""
    entity_id: str = ""
    rules: Rules = ()
