"""Words as rows of character ids: the bytes of UTF-8, as the original ELMo reads them, or Unicode characters."""

from collections import Counter
from functools import lru_cache
from typing import Any, Dict, Iterable, List, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


class ByteCharacters:
    """The 256 bytes and the original's special characters, with the original's numbers.

    A word is [begin of word, bytes, end of word, padding ...]. Id 0 stands for no word at all. Bytes beyond the
    length of a row are cut off, even inside a Chinese character, which is three bytes.

    max_characters (int): Length of a row; two places are for begin and end.
    """

    begin_sentence, end_sentence, begin_word, end_word, padding = 257, 258, 259, 260, 261
    n_characters = 262

    def __init__(self, max_characters: int = 50):
        self.max_characters = max_characters

    def encode(self, words: Sequence[str]) -> Ids:
        """words (Sequence[str]): Any words.
        RETURNS (Ids): Shape [n_words, max_characters].
        """
        kept = [word.encode("utf8")[: self.max_characters - 2] for word in words]
        flat = np.frombuffer(b"".join(kept), dtype=np.uint8).astype(np.int64) + 1
        return _fill(flat, [len(word) for word in kept], self)

    def to_dict(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): What `character_ids` makes it from again, as plain JSON."""
        return {"unit": "byte", "max_characters": self.max_characters}


class UnicodeCharacters:
    """Characters of a vocabulary, better for Chinese: a character is one id instead of three bytes.

    Laid out as in `ByteCharacters`: id 0 for no word, then the vocabulary, then an unknown character and the five
    special ones.

    characters (str): The vocabulary, each character once.
    max_characters (int): Length of a row; two places are for begin and end. Characters beyond are cut off.
    """

    def __init__(self, characters: str, max_characters: int = 50):
        if not characters:
            raise ValueError("The vocabulary of characters is empty: give the characters that the training texts hold.")
        points = np.array(sorted(map(ord, characters)), dtype=np.int64)
        repeated = points[1:][points[1:] == points[:-1]]
        if len(repeated):
            raise ValueError(f"The vocabulary of characters holds {chr(repeated[0])!r} more than once.")
        self.characters = characters
        self.max_characters = max_characters
        self._points = points
        self.unknown = len(points) + 1
        self.begin_sentence, self.end_sentence, self.begin_word, self.end_word, self.padding = range(
            self.unknown + 1, self.unknown + 6
        )
        self.n_characters = self.padding + 1

    @classmethod
    def from_counts(
        cls, words: Iterable[Tuple[str, int]], max_characters: int = 50, max_size: int = 20000
    ) -> "UnicodeCharacters":
        """The most frequent characters of words.

        words (Iterable[Tuple[str, int]]): Words, and how often each occurs.
        max_characters (int): Length of a row.
        max_size (int): Most characters of the vocabulary.
        RETURNS (UnicodeCharacters): The vocabulary.
        """
        counts: Counter[str] = Counter()
        for word, count in words:
            for character in word:
                counts[character] += count
        frequent = sorted(counts, key=lambda character: (-counts[character], character))[:max_size]
        return cls("".join(sorted(frequent)), max_characters)

    def encode(self, words: Sequence[str]) -> Ids:
        """words (Sequence[str]): Any words.
        RETURNS (Ids): Shape [n_words, max_characters].
        """
        kept = [word[: self.max_characters - 2] for word in words]
        points = np.frombuffer("".join(kept).encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
        found = np.minimum(np.searchsorted(self._points, points), len(self._points) - 1)
        flat = np.where(self._points[found] == points, found + 1, self.unknown)
        return _fill(flat, [len(word) for word in kept], self)

    def to_dict(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): What `character_ids` makes it from again, as plain JSON."""
        return {"unit": "unicode", "max_characters": self.max_characters, "characters": self.characters}


CharacterIds = Union[ByteCharacters, UnicodeCharacters]


def character_ids(settings: Dict[str, Any]) -> CharacterIds:
    """settings (Dict[str, Any]): The result of `to_dict`.
    RETURNS (CharacterIds): What it was made from.
    """
    if settings["unit"] == "byte":
        return ByteCharacters(settings["max_characters"])
    return _unicode(settings["characters"], settings["max_characters"])


_unicode = lru_cache(maxsize=16)(UnicodeCharacters)  # asked for at every call of a model


def boundary_words(ids: CharacterIds) -> Ids:
    """The words that stand before and after each sentence.

    ids (CharacterIds): The scheme.
    RETURNS (Ids): Shape [2, max_characters].
    """
    return _fill(np.array([ids.begin_sentence, ids.end_sentence], dtype=np.int64), [1, 1], ids)


def _fill(flat: Ids, lengths: List[int], ids: CharacterIds) -> Ids:
    rows = np.full((len(lengths), ids.max_characters), ids.padding, dtype=np.int64)
    ends = np.array(lengths, dtype=np.int64)
    rows[:, 0] = ids.begin_word
    rows[:, 1:][np.arange(ids.max_characters - 1) < ends[:, None]] = flat
    rows[np.arange(len(rows)), ends + 1] = ids.end_word
    return rows
