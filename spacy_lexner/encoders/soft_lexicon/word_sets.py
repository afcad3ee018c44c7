"""The word sets of characters, and how much each word in them counts (Ma et al. 2020, section 3.2)."""

from typing import NamedTuple, Sequence, Tuple

import numpy as np

from ...lexicon.matcher import Matcher

BEGIN, MIDDLE, END, SINGLE = range(4)
N_SETS = 4
MATCHED_AT_ONCE = 1000


class WordSets(NamedTuple):
    """The sets of all units, one unit after the other, its sets in the order above."""

    words: np.ndarray  # int64[n], words of the batch by number; -1 stands alone in a set without words
    weights: np.ndarray  # float32[n]; those of a unit add up to `N_SETS`
    sizes: np.ndarray  # int64[n_units, N_SETS], how many each set has, at least 1


def sort_into_sets(starts: np.ndarray, ends: np.ndarray, frequencies: np.ndarray, n_units: int) -> WordSets:
    """Give each unit the words that begin, go on, end there, or are nothing but it.

    A word w of set S weighs 4 z(w) / Z (equation 9), with Z the sum over the four sets of the unit. Where a set is
    empty, "no word" is in it, with frequency 1. As in the authors' code z is 1 for words of one unit, and for all words
    of a set where it would be 0 for each.

    starts, ends (numpy.ndarray): int64[n], the units of each word.
    frequencies (numpy.ndarray): float64[n], z of each.
    """
    lengths = ends - starts
    word = np.repeat(np.arange(len(starts)), lengths)
    unit = np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    kind = np.full(len(unit), MIDDLE)
    kind[unit == ends[word] - 1] = END
    kind[unit == starts[word]] = BEGIN
    kind[lengths[word] == 1] = SINGLE
    place = unit * N_SETS + kind
    empty = np.flatnonzero(np.bincount(place, minlength=n_units * N_SETS) == 0)
    place, word = np.append(place, empty), np.append(word, np.full(len(empty), -1))
    order = np.argsort(place, kind="stable")
    place, word = place[order], word[order]
    counts = np.append(frequencies, 1.0)[word]  # the last is that of -1
    counts[place % N_SETS == SINGLE] = 1.0
    sums = np.bincount(place, counts, minlength=n_units * N_SETS)
    counts[sums[place] == 0] = 1.0
    totals = np.bincount(place // N_SETS, counts, minlength=n_units)
    weights = (N_SETS * counts / totals[place // N_SETS]).astype("f4")
    sizes = np.bincount(place, minlength=n_units * N_SETS).reshape(-1, N_SETS)
    return WordSets(word, weights, sizes)


def count_words(matcher: Matcher, texts: Sequence[str]) -> Tuple[np.ndarray, np.ndarray]:
    """Count the words in texts: uint64[n] hashes, ascending, and int64[n] how often each occurs where no longer word
    covers it."""
    parts = [np.zeros(0, "u8")]
    for begin in range(0, len(texts), MATCHED_AT_ONCE):
        some = texts[begin : begin + MATCHED_AT_ONCE]
        found, borders = matcher.match(some)
        lengths = np.array([len(text) for text in some], "i8")
        offset = np.repeat(np.cumsum(lengths) - lengths, np.diff(borders))
        parts.append(found.hashes[~find_covered(found.starts + offset, found.ends + offset)])
    hashes, numbers = np.unique(np.concatenate(parts), return_counts=True)
    return hashes, numbers


def find_covered(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """bool[n], whether another of these spans, all different, holds a span."""
    order = np.lexsort((-ends, starts))
    reach = np.maximum.accumulate(ends[order])
    covered = np.zeros(len(starts), bool)
    covered[order[1:]] = reach[:-1] >= ends[order[1:]]
    return covered
