"""Words that are missing in training, so that a model does not rely on each of them, nor on having any."""

from dataclasses import dataclass
from typing import List, Sequence

import numpy as np

from .batch_words import DocWords


@dataclass(frozen=True)
class WordDropout:
    """Hides candidate words. The random numbers are numpy's, which spaCy seeds, as for thinc's Dropout.

    lexicon_dropout (float): Probability that a Doc has no words at all.
    word_dropout (float): Probability that a word, all of its occurrences in a batch, is missing.
    """

    lexicon_dropout: float = 0.0
    word_dropout: float = 0.0

    def __post_init__(self) -> None:
        for name, rate in vars(self).items():
            if not 0 <= rate <= 1:
                raise ValueError(f"lexicon.{name} = {rate} is out of range: it must be a probability, from 0 to 1.")

    def __call__(self, found: Sequence[DocWords]) -> List[DocWords]:
        """RETURNS (List[Tuple[Candidates, Lexicon]]): What is left of the words of Docs."""
        if self.word_dropout:
            distinct = np.unique(np.concatenate([np.zeros(0, "u8"), *(words.hashes for words, _ in found)]))
            missing = distinct[np.random.random(len(distinct)) < self.word_dropout]
            found = [(words.take(~np.isin(words.hashes, missing)), lexicon) for words, lexicon in found]
        if self.lexicon_dropout:
            shown = np.random.random(len(found)) >= self.lexicon_dropout
            found = [
                (words.take(np.full(len(words.hashes), keep)), lexicon) for (words, lexicon), keep in zip(found, shown)
            ]
        return list(found)
