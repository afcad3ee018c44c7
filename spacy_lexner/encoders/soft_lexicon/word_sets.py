"""The word sets of characters, and the weights of words in them (Ma et al. 2020, section 3.2)."""

from typing import NamedTuple, Sequence, Tuple

import numpy as np

from ...lexicon.matcher import Matcher
from ..shared.words import match_in_parts

BEGIN, MIDDLE, END, SINGLE = range(4)
N_SETS = 4


class WordSets(NamedTuple):
    """The sets of all units, unit by unit, in the order BEGIN, MIDDLE, END, SINGLE."""

    words: np.ndarray  # int64[n], words of the batch by number; -1 for the "no word" of an empty set
    weights: np.ndarray  # float32[n]; those of a unit add up to `N_SETS`
    sizes: np.ndarray  # int64[n_units, N_SETS], number of words in each set, at least 1


def sort_into_sets(starts: np.ndarray, ends: np.ndarray, frequencies: np.ndarray, n_units: int) -> WordSets:
    """Sort the words of each unit by whether they begin there, continue, end there or consist of the unit alone.

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
    counts = np.append(frequencies, 1.0)[word]  # the last is the frequency of -1
    counts[place % N_SETS == SINGLE] = 1.0
    sums = np.bincount(place, counts, minlength=n_units * N_SETS)
    counts[sums[place] == 0] = 1.0
    totals = np.bincount(place // N_SETS, counts, minlength=n_units)
    weights = (N_SETS * counts / totals[place // N_SETS]).astype("f4")
    sizes = np.bincount(place, minlength=n_units * N_SETS).reshape(-1, N_SETS)
    return WordSets(word, weights, sizes)


def count_words(matcher: Matcher, texts: Sequence[str]) -> Tuple[np.ndarray, np.ndarray]:
    """Count the words in texts. Returns their hashes, uint64[n], ascending, and for each the number of occurrences not
    covered by a longer word, int64[n]."""
    parts = [np.zeros(0, "u8")]
    for some, found, borders in match_in_parts(matcher, texts):
        lengths = np.array([len(text) for text in some], "i8")
        offset = np.repeat(np.cumsum(lengths) - lengths, np.diff(borders))
        parts.append(found.hashes[~find_covered(found.starts + offset, found.ends + offset)])
    hashes, numbers = np.unique(np.concatenate(parts), return_counts=True)
    return hashes, numbers


def find_covered(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """RETURNS (numpy.ndarray): bool[n], whether another span covers a span; all spans must be different."""
    order = np.lexsort((-ends, starts))
    reach = np.maximum.accumulate(ends[order])
    covered = np.zeros(len(starts), bool)
    covered[order[1:]] = reach[:-1] >= ends[order[1:]]
    return covered
