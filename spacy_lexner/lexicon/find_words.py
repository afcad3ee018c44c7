"""The words of a lexicon, with its changes, in a text."""

from typing import Iterable, Iterator, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from .level import Level
from .normalization import to_codes
from .trie import CHUNK

SEPARATOR = "\0"  # no word holds it


class Candidates(NamedTuple):
    """Lexicon words found in a text, ordered by start, then by length.

    starts (numpy.ndarray): int32[n] or int64[n], first character.
    ends (numpy.ndarray): One past the last.
    hashes (numpy.ndarray): uint64[n], hash of the word.
    """

    starts: np.ndarray
    ends: np.ndarray
    hashes: np.ndarray

    def take(self, index: Union[np.ndarray, slice]) -> "Candidates":
        """RETURNS (Candidates): Some of them, by number, mask or slice."""
        return Candidates(*(column[index] for column in self))


def find_words(levels: Sequence[Level], text: str, min_length: int, max_length: Optional[int]) -> Candidates:
    """Find the words of all levels.

    levels (Sequence[Level]): The levels; a word is visible in one of them only.
    text (str): The text.
    min_length (int): Length of the shortest word to look for.
    max_length (Optional[int]): Length of the longest; None for any.
    RETURNS (Candidates): The words.
    """
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


def join_texts(texts: Iterable[str]) -> Iterator[str]:
    """YIELDS (str): The texts, put together to about as many characters as the trie matches at a time."""
    batch: List[str] = []
    n_characters = 0
    for text in texts:
        batch.append(text)
        n_characters += len(text)
        if n_characters >= CHUNK:
            yield SEPARATOR.join(batch)
            batch, n_characters = [], 0
    yield SEPARATOR.join(batch)
