"""The words that a language model predicts."""

import hashlib
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Dict, Iterable, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ..encoders.elmo.counted_words import CountedWords, read_counted_words

BEGIN, END, UNKNOWN = 0, 1, 2
N_SPECIAL = 3
MAX_HELD = 5_000_000


class WordVocabulary:
    """Numbers of words: begin and end of a sentence, unknown words, then `words`, which are in order of frequency. The
    `fingerprint` differs between vocabularies."""

    def __init__(self, words: Sequence[str]):
        self._numbers: Dict[str, int] = {word: number for number, word in enumerate(words, N_SPECIAL)}
        self.fingerprint = hashlib.sha256("\n".join(words).encode("utf8")).hexdigest()[:16]

    @classmethod
    def read(cls, path: Union[str, Path], max_words: int = 0) -> "WordVocabulary":
        """Read counted words.

        path (Union[str, Path]): A file that `spacy lexner count-words` wrote.
        max_words (int): Most words to read; 0 for all.
        RETURNS (WordVocabulary): The vocabulary. Raises ValueError if the words are not in order of frequency.
        """
        if max_words < 0:
            raise ValueError(f"max_words is {max_words}; expected a number of words, or 0 for all.")
        counted = read_counted_words(path)
        for number, ((_, count), (word, next_count)) in enumerate(pairwise(counted), 2):
            if next_count > count:
                raise ValueError(
                    f"{path}, line {number}: {word!r} is more frequent than the word before it. Words must be in "
                    "the order of their frequency, as 'spacy lexner count-words' writes them."
                )
        return cls([word for word, _ in counted[: max_words or None]])

    def __len__(self) -> int:
        return N_SPECIAL + len(self._numbers)

    def numbers(self, words: Iterable[str]) -> NDArray[np.int64]:
        """The numbers of any words; UNKNOWN for those outside the vocabulary."""
        return np.array([self._numbers.get(word, UNKNOWN) for word in words], dtype=np.int64)


class WordCounter:
    """Counts the words of a stream in bounded memory.

    max_held (int): Most distinct words to hold. Beyond it, the rarest half is forgotten: words that were seen at most
        `least_certain` times.
    """

    def __init__(self, max_held: int = MAX_HELD):
        self.max_held = max_held
        self.n_words = 0
        self.least_certain = 0
        self._counts: Counter[str] = Counter()

    def add(self, words: Iterable[str]) -> None:
        """Count words. White space, and words with a tab or a line end, are skipped."""
        kept = [word for word in words if not word.isspace() and not any(mark in word for mark in "\t\r\n")]
        self.n_words += len(kept)
        self._counts.update(kept)
        if len(self._counts) > self.max_held:
            self._forget()

    def most_common(self, max_words: int = 0, min_count: int = 1) -> CountedWords:
        """List the counted words.

        max_words (int): Most words to list; 0 for all.
        min_count (int): Rarer words are left out.
        RETURNS (CountedWords): Words and counts, the most frequent first; ties in code point order.
        """
        ordered = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        return [(word, count) for word, count in ordered if count >= min_count][: max_words or None]

    def _forget(self) -> None:
        kept = self._counts.most_common(self.max_held // 2)
        self.least_certain = max(self.least_certain, kept[-1][1] if kept else 0)
        self._counts = Counter(dict(kept))
