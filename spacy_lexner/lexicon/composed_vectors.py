"""Vectors for words that have none: the mean of the vectors of their known parts."""

from dataclasses import dataclass
from itertools import islice
from typing import Iterable, Iterator, List, Optional, Tuple

import numpy as np

from .entry import LexiconEntry
from .lexicon import Lexicon
from .matcher import Matcher, MatchOptions

BATCH = 10_000


@dataclass
class CompositionReport:
    """The number of words by the source of their vectors."""

    known: int = 0
    from_words: int = 0
    from_characters: int = 0
    zero: int = 0

    def __str__(self) -> str:
        return (
            f"{self.known} words with a vector of their own, {self.from_words} composed from shorter words, "
            f"{self.from_characters} from characters, {self.zero} without any known part (zero vector)"
        )


def compose_vectors(
    entries: Iterable[LexiconEntry],
    known: Lexicon,
    characters: Optional[Lexicon] = None,
    *,
    report: Optional[CompositionReport] = None,
) -> Iterator[LexiconEntry]:
    """Give every entry a vector: its own or that in `known`; else the mean of all known words of two or more characters
    inside it; else the mean of its known characters; else zeros.

    characters (Optional[Lexicon]): Characters with vectors of the same width; by default those in `known`.
    report (Optional[CompositionReport]): Counts are added to it.
    YIELDS (LexiconEntry): The entries, in order. Raises ValueError unless both lexicons have vectors of equal width.
    """
    characters = known if characters is None else characters
    if not known.dim or characters.dim != known.dim:
        raise ValueError(
            f"The words have vectors of {known.dim} dimensions, the characters of {characters.dim}: both need vectors "
            "of the same width."
        )
    report = CompositionReport() if report is None else report
    words = Matcher(known, MatchOptions(min_length=2))
    singles = Matcher(characters, MatchOptions(max_length=1))
    stream = iter(entries)
    while batch := list(islice(stream, BATCH)):
        yield from _compose_batch(batch, known, words, singles, report)


def _compose_batch(
    batch: List[LexiconEntry], known: Lexicon, words: Matcher, singles: Matcher, report: CompositionReport
) -> Iterator[LexiconEntry]:
    own, has_own = known.vectors(np.array([known.hash(entry.word) for entry in batch], "u8"))
    has_own |= [entry.vector is not None for entry in batch]
    lacking = np.flatnonzero(~has_own)
    texts = [batch[i].word for i in lacking]
    by_words, n_words = _mean_of_parts(words, texts)
    by_characters, n_characters = _mean_of_parts(singles, texts)
    own[lacking] = np.where(n_words[:, None] > 0, by_words, by_characters)
    report.known += len(batch) - len(lacking)
    report.from_words += int((n_words > 0).sum())
    report.from_characters += int(((n_words == 0) & (n_characters > 0)).sum())
    report.zero += int(((n_words == 0) & (n_characters == 0)).sum())
    for entry, vector in zip(batch, own):
        yield entry._replace(vector=vector) if entry.vector is None else entry


def _mean_of_parts(matcher: Matcher, texts: List[str]) -> Tuple[np.ndarray, np.ndarray]:
    """The mean vector of the words in each text, float32[n, dim], and their number, int64[n]."""
    words, borders = matcher.match(texts)
    vectors, found = matcher.lexicon.vectors(words.hashes)
    text = np.repeat(np.arange(len(texts)), np.diff(borders))[found]
    parts = np.bincount(text, minlength=len(texts))
    total = np.zeros((len(texts), matcher.lexicon.dim), "f4")
    np.add.at(total, text, vectors[found])
    return total / np.maximum(parts, 1)[:, None], parts
