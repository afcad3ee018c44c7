"""Words that are missing in training, so that a model does not rely on having them."""

from dataclasses import dataclass
from typing import List, Sequence

import numpy as np

from ..lexicon.level import Candidates
from ..lexicon.lexicon import Lexicon
from .batch_words import DocWords

ALL = 0.5  # the part of the Docs that lack words which have none


@dataclass(frozen=True)
class WordDropout:
    """Hides candidate words of some Docs: all of them in half of these, a random share in the others. The rest are as
    they will be in use. The random numbers are numpy's, which spaCy seeds, as for thinc's Dropout.

    lexicon_dropout (float): Probability that a Doc lacks words.
    """

    lexicon_dropout: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.lexicon_dropout <= 1:
            raise ValueError(
                f"lexicon.lexicon_dropout = {self.lexicon_dropout} is out of range: it must be a probability, from 0 "
                "to 1."
            )

    def __call__(self, found: Sequence[DocWords]) -> List[DocWords]:
        """RETURNS (List[Tuple[Candidates, Lexicon]]): What is left of the words of Docs."""
        if not self.lexicon_dropout:
            return list(found)
        chosen = np.random.random(len(found)) < self.lexicon_dropout
        shares = chosen * np.minimum(1, np.random.random(len(found)) / (1 - ALL))
        return [_without(share, *words) if share else words for words, share in zip(found, shares)]


def _without(share: float, words: Candidates, lexicon: Lexicon) -> DocWords:
    """The words of a Doc without a random share, each of them with all of its occurrences."""
    distinct, places = np.unique(words.hashes, return_inverse=True)
    return words.take((np.random.random(len(distinct)) >= share)[places]), lexicon
