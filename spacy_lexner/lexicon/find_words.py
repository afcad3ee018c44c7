"""The words of a lexicon, with its changes, in a text."""

from typing import Iterable, Iterator, List, NamedTuple, Optional

import numpy as np

from .normalization import to_codes
from .overlay import Overlay
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


def find_words(overlay: Overlay, text: str, min_length: int, max_length: Optional[int]) -> LexiconMatches:
    """Find the words of the base that are still there, and the added ones.

    overlay (Overlay): The changes to a base.
    text (str): The text.
    min_length (int): Length of the shortest word to look for.
    max_length (Optional[int]): Length of the longest; None for any.
    RETURNS (LexiconMatches): The words.
    """
    base = overlay.base
    codes = base.normalization.codes(to_codes(text))
    start, length, word = base.trie.match(codes, min_length, max_length)
    if overlay.hidden:
        visible = np.flatnonzero(overlay.visible(word))
        start, length, word = start.take(visible), length.take(visible), word.take(visible)
    found = LexiconMatches(start, length, base.hash_of(word))
    if not overlay.added:
        return found
    start, length, word = overlay.compiled.trie.match(codes, min_length, max_length)
    added = LexiconMatches(start, length, overlay.compiled.hash_of(word))
    start, length, hashes = map(np.concatenate, zip(found, added))
    order = np.lexsort((length, start))
    return LexiconMatches(start[order], length[order], hashes[order])


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
