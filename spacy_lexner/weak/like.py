"""Choosing from raw texts of all kinds those that are like given ones."""

from typing import Callable, Iterable, Iterator, Sequence

import numpy as np
from spacy.util import minibatch
from tqdm import tqdm

from .protected import squeeze

BUCKETS = 2**18  # for pairs of characters, which are hashed
BATCH = 1000  # texts counted at a time
TYPICAL = 0.5  # the share of the given texts that are less typical than a text that is chosen


class LikeTexts:
    """Given texts, and those of others that are at least as typical of their kind as half of the given ones. After
    Moore and Lewis (2010), a text is typical if it is much more probable among the given texts than among all: here,
    its pairs of characters are. Given texts are scored as if they were not given.
    """

    def __init__(self, like: Sequence[str], read_others: Callable[[], Iterable[str]]) -> None:
        """Set the texts, which are read when they are iterated over.

        like (Sequence[str]): The given texts.
        read_others (Callable[[], Iterable[str]]): Reads the other texts, which is done twice.
        Raises ValueError if no text is given.
        """
        if not like:
            raise ValueError("There is no text that others should be like. Give at least one, better some hundred.")
        self.like = like
        self.read_others = read_others
        self.n_read = self.n_chosen = 0  # of the others, in the last iteration

    def __iter__(self) -> Iterator[str]:
        """YIELDS (str): All given texts, then the others that are chosen, in order."""
        yield from self.like
        kind = Kind(self.like, _with_bar(self.read_others(), "counting"))
        least = float(np.quantile([kind.score(text, given=True) for text in self.like], TYPICAL))
        self.n_read = self.n_chosen = 0
        for text in _with_bar(self.read_others(), "choosing"):
            self.n_read += 1
            if kind.score(text) >= least:
                self.n_chosen += 1
                yield text


class Kind:
    """How often pairs of characters occur in given texts, and in these and others together."""

    def __init__(self, like: Iterable[str], others: Iterable[str]) -> None:
        self.counts = count_pairs(like)
        together = self.counts + count_pairs(others) + 0.5
        self.total = self.counts.sum()
        self.shares = together / together.sum()

    def score(self, text: str, *, given: bool = False) -> float:
        """RETURNS (float): The mean logarithm of how much more probable the pairs of a text are in the given texts,
        smoothed by their shares of all texts. With `given`, the text is taken out of the given ones."""
        pairs = hash_pairs([text])
        counts, total = self.counts[pairs], self.total
        if given:
            _, places, own = np.unique(pairs, return_inverse=True, return_counts=True)
            counts, total = counts - own[places], total - len(pairs)
        shares = self.shares[pairs]
        return float(np.log((counts + self.total * shares) / ((total + self.total) * shares)).mean())


def count_pairs(texts: Iterable[str]) -> np.ndarray:
    """RETURNS (np.ndarray): The number of pairs of characters in each bucket, [BUCKETS]."""
    counts = np.zeros(BUCKETS)
    for batch in minibatch(texts, BATCH):
        counts += np.bincount(hash_pairs(batch), minlength=BUCKETS)
    return counts


def hash_pairs(texts: Iterable[str]) -> np.ndarray:
    """RETURNS (np.ndarray): The buckets of all pairs of characters in texts, white space aside; borders of texts count
    as characters."""
    joined = "\n" + "\n".join(map(squeeze, texts)) + "\n"
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), "<u4").astype("u8")
    mixed: np.ndarray = points[:-1] * np.uint64(0x9E3779B97F4A7C15) + points[1:] * np.uint64(0xC2B2AE3D27D4EB4F)
    return (mixed >> np.uint64(40)).astype("i8") % BUCKETS


def _with_bar(texts: Iterable[str], title: str) -> Iterable[str]:
    return tqdm(texts, desc=title, unit=" texts", disable=None, leave=False)
