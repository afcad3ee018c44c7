"""The labels of words by number, as a model knows them."""

import warnings
from functools import lru_cache
from typing import List, Sequence, Set, Tuple

import numpy as np

from ...lexicon.errors import LexiconWarning
from ...lexicon.lexicon import Lexicon

MAX_NAMED = 20


class LabelNumbers:
    """Numbers the labels that the lexicon had in training, from 1 on. Another label has no effect; it is warned of,
    once."""

    def __init__(self, names: Sequence[str]) -> None:
        self._numbers = {name: i for i, name in enumerate(names, 1)}
        self._unknown: Set[str] = set()

    def __call__(self, lexicon: Lexicon, hashes: np.ndarray) -> np.ndarray:
        """Look up the labels of words (uint64[n]).

        RETURNS (numpy.ndarray): int64[n, K], the numbers of each word's known labels, filled up with 0.
        """
        found = lexicon.labels(hashes)
        known = {i: [self._numbers[name] for name in own if name in self._numbers] for i, own in found.items()}
        if sum(map(len, known.values())) < sum(map(len, found.values())):
            self._warn({name for own in found.values() for name in own} - self._numbers.keys() - self._unknown)
        numbers = np.zeros((len(hashes), max(map(len, known.values()), default=0)), "i8")
        for i, own in known.items():
            numbers[i, : len(own)] = own
        return numbers

    def _warn(self, new: Set[str]) -> None:
        if not new:
            return
        self._unknown |= new
        named = sorted(new)
        shown = ", ".join(named[:MAX_NAMED]) + (f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else "")
        warnings.warn(
            f"The lexicon of training did not have these labels of words, so the model ignores them: {shown}. "
            f"It knows {', '.join(list(self._numbers)[:MAX_NAMED])}{', …' if len(self._numbers) > MAX_NAMED else ''}. "
            "Train it with a lexicon that has these labels, or use those it knows.",
            LexiconWarning,
            stacklevel=2,
        )


def stack_labels(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Join the numbers of several lexicons' words, int64[n_i, K_i] each, to int64[n, K]."""
    width = max((part.shape[1] for part in parts), default=0)
    filled: List[np.ndarray] = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts]
    return np.concatenate([np.zeros((0, width), "i8"), *filled])


@lru_cache(maxsize=16)  # asked for at every call of a model
def load_labels(names: Tuple[str, ...]) -> LabelNumbers:
    """RETURNS (LabelNumbers): The lookup for these labels; the same object for equal ones."""
    return LabelNumbers(names)
