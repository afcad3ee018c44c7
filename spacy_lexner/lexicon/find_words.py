"""The words of a lexicon, with its changes, in a text."""

from typing import Iterable, Iterator, List, NamedTuple, Optional, Sequence

import numpy as np

from .level import Level
from .normalization import to_codes
from .trie import CHUNK

SEPARATOR = "\0"  # no word holds it


class LexiconMatches(NamedTuple):
    """Words found in a text, ordered by start, then by length.

    start (numpy.ndarray): int64[n], first character.
    length (numpy.ndarray): int64[n].
    hash (numpy.ndarray): uint64[n], hash of the word.
    """

    start: np.ndarray
    length: np.ndarray
    hash: np.ndarray


def find_words(levels: Sequence[Level], text: str, min_length: int, max_length: Optional[int]) -> LexiconMatches:
    """Find the words of all levels.

    levels (Sequence[Level]): The levels; a word is visible in one of them only.
    text (str): The text.
    min_length (int): Length of the shortest word to look for.
    max_length (Optional[int]): Length of the longest; None for any.
    RETURNS (LexiconMatches): The words.
    """
    codes = levels[0].base.normalization.codes(to_codes(text))
    found = [_find_in_level(level, codes, min_length, max_length) for level in levels]
    if len(found) == 1:
        return found[0]
    start, length, hashes = map(np.concatenate, zip(*found))
    order = np.lexsort((length, start))
    return LexiconMatches(start[order], length[order], hashes[order])


def _find_in_level(level: Level, codes: np.ndarray, min_length: int, max_length: Optional[int]) -> LexiconMatches:
    start, length, word = level.base.trie.match(codes, min_length, max_length)
    if len(level.hidden):
        visible = np.flatnonzero(level.visible(word))
        start, length, word = start.take(visible), length.take(visible), word.take(visible)
    return LexiconMatches(start, length, level.base.hash_of(word))


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
