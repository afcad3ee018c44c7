"""Words as rows of character ids: the bytes of UTF-8, as the original ELMo reads them, or Unicode characters."""

from collections import Counter
from functools import lru_cache
from typing import Any, Dict, Iterable, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
MAX_CHARACTERS = 50  # as in the original


class CharacterIds:
    """A row is [begin of word, characters, end of word, padding ...], `max_characters` long; longer words are
    truncated.

    Id 0 means no word and ids 1 to n_plain - 1 are characters. The next five are begin and end of a sentence, begin and
    end of a word, and padding.
    """

    def __init__(self, n_plain: int, max_characters: int) -> None:
        self.max_characters = max_characters
        special = range(n_plain, n_plain + 5)
        self.begin_sentence, self.end_sentence, self.begin_word, self.end_word, self.padding = special
        self.n_characters = special.stop

    def encode(self, words: Sequence[str]) -> Ids:
        """Words to ids [n_words, max_characters]."""
        raise NotImplementedError

    def to_dict(self) -> Dict[str, Any]:
        """Plain JSON, which `character_ids` reads."""
        raise NotImplementedError

    def boundary_words(self) -> Ids:
        """RETURNS (Ids): The words before and after each sentence, [2, max_characters]."""
        return self._fill(np.array([self.begin_sentence, self.end_sentence], dtype=np.int64), [1, 1])

    def _fill(self, flat: Ids, lengths: Sequence[int]) -> Ids:
        """RETURNS (Ids): Rows for words whose characters are concatenated in `flat`."""
        rows = np.full((len(lengths), self.max_characters), self.padding, dtype=np.int64)
        ends = np.array(lengths, dtype=np.int64)
        rows[:, 0] = self.begin_word
        rows[:, 1:][np.arange(self.max_characters - 1) < ends[:, None]] = flat
        rows[np.arange(len(rows)), ends + 1] = self.end_word
        return rows


class ByteCharacters(CharacterIds):
    """The 256 bytes, with the original's ids. Truncation may split a Chinese character, which has three bytes."""

    def __init__(self, max_characters: int = MAX_CHARACTERS) -> None:
        super().__init__(257, max_characters)

    def encode(self, words: Sequence[str]) -> Ids:
        kept = [word.encode("utf8")[: self.max_characters - 2] for word in words]
        flat = np.frombuffer(b"".join(kept), dtype=np.uint8).astype(np.int64) + 1
        return self._fill(flat, [len(word) for word in kept])

    def to_dict(self) -> Dict[str, Any]:
        return {"unit": "byte", "max_characters": self.max_characters}


class UnicodeCharacters(CharacterIds):
    """Characters of a vocabulary, each listed once, and an unknown one. Better for Chinese: a character is one id
    instead of three bytes."""

    def __init__(self, characters: str, max_characters: int = MAX_CHARACTERS) -> None:
        if not characters:
            raise ValueError("The vocabulary of characters is empty: use the characters of the training texts.")
        points = np.array(sorted(map(ord, characters)), dtype=np.int64)
        repeated = points[1:][points[1:] == points[:-1]]
        if len(repeated):
            raise ValueError(f"The vocabulary of characters lists {chr(repeated[0])!r} more than once.")
        self.characters = characters
        self._points = points
        self.unknown = len(points) + 1
        super().__init__(self.unknown + 1, max_characters)

    @classmethod
    def from_counts(
        cls, words: Iterable[Tuple[str, int]], max_characters: int = MAX_CHARACTERS, max_size: int = 20000
    ) -> "UnicodeCharacters":
        """Make a vocabulary of the `max_size` most frequent characters of words, given with their counts."""
        counts: Counter[str] = Counter()
        for word, count in words:
            for character in word:
                counts[character] += count
        frequent = sorted(counts, key=lambda character: (-counts[character], character))[:max_size]
        return cls("".join(sorted(frequent)), max_characters)

    def encode(self, words: Sequence[str]) -> Ids:
        kept = [word[: self.max_characters - 2] for word in words]
        points = np.frombuffer("".join(kept).encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
        found = np.minimum(np.searchsorted(self._points, points), len(self._points) - 1)
        flat = np.where(self._points[found] == points, found + 1, self.unknown)
        return self._fill(flat, [len(word) for word in kept])

    def to_dict(self) -> Dict[str, Any]:
        return {"unit": "unicode", "max_characters": self.max_characters, "characters": self.characters}


def character_ids(settings: Dict[str, Any]) -> CharacterIds:
    """RETURNS (CharacterIds): The inverse of `CharacterIds.to_dict`."""
    if settings["unit"] == "byte":
        return ByteCharacters(settings["max_characters"])
    return _unicode(settings["characters"], settings["max_characters"])


_unicode = lru_cache(maxsize=16)(UnicodeCharacters)  # cached, since every call of a model needs it
