"""Hiding candidate words in training, so that a model does not rely on having them."""

from dataclasses import dataclass
from typing import List, Sequence

import numpy as np

from ..lexicon.level import Candidates
from ..lexicon.lexicon import Lexicon
from .batch_words import DocWords

ALL = 0.5  # share of the affected Docs that lose all words


@dataclass(frozen=True)
class WordDropout:
    """Hides candidate words of some Docs: in half of these all words, in the others a random share. All other Docs keep
    their words. The random numbers are numpy's, which spaCy seeds, as for thinc's Dropout.

    lexicon_dropout (float): Probability that a Doc loses words.
    """

    lexicon_dropout: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.lexicon_dropout <= 1:
            raise ValueError(f"lexicon.lexicon_dropout = {self.lexicon_dropout}: expected a probability from 0 to 1.")

    def __call__(self, found: Sequence[DocWords]) -> List[DocWords]:
        """RETURNS (List[Tuple[Candidates, Lexicon]]): The remaining words of each Doc."""
        if not self.lexicon_dropout:
            return list(found)
        chosen = np.random.random(len(found)) < self.lexicon_dropout
        shares = chosen * np.minimum(1, np.random.random(len(found)) / (1 - ALL))
        return [_without(share, *words) if share else words for words, share in zip(found, shares)]


def _without(share: float, words: Candidates, lexicon: Lexicon) -> DocWords:
    """Drop a random share of the distinct words of a Doc, with all their occurrences."""
    distinct, places = np.unique(words.hashes, return_inverse=True)
    return words.take((np.random.random(len(distinct)) >= share)[places]), lexicon
