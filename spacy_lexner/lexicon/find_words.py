"""All words of a lexicon in a text."""

from typing import NamedTuple, Optional, Sequence, Union

import numpy as np

from .level import Level
from .normalization import to_codes

SEPARATOR = "\0"  # between texts that are matched as one: no word contains it


class Candidates(NamedTuple):
    """Lexicon words found in a text, ordered by start, then by length."""

    starts: np.ndarray  # int32[n] or int64[n], first character
    ends: np.ndarray  # int32[n] or int64[n], one past the last character
    hashes: np.ndarray  # uint64[n], hash of the word

    def take(self, index: Union[np.ndarray, slice]) -> "Candidates":
        """The candidates at an index: numbers, a mask or a slice."""
        return Candidates(*(column[index] for column in self))


def find_words(levels: Sequence[Level], text: str, min_length: int, max_length: Optional[int]) -> Candidates:
    """Find the words of all levels in a text. Arguments as for `Lexicon.match`."""
    codes = levels[0].normalization.codes(to_codes(text))
    found = [_find_in_level(level, codes, min_length, max_length) for level in levels]
    if len(found) == 1:
        return found[0]
    together = Candidates(*map(np.concatenate, zip(*found)))
    return together.take(np.lexsort((together.ends, together.starts)))


def _find_in_level(level: Level, codes: np.ndarray, min_length: int, max_length: Optional[int]) -> Candidates:
    starts, ends, words = level.trie.match(codes, min_length, max_length)
    if len(level.hidden):
        visible = np.flatnonzero(level.visible(words))
        starts, ends, words = starts.take(visible), ends.take(visible), words.take(visible)
    return Candidates(starts, ends, level.hash_of(words))
