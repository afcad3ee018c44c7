"""Where the words that have rules stand in texts."""

from typing import List, NamedTuple, Sequence

import numpy as np

from .lexicon import Lexicon
from .matcher import Matcher
from .rules import Rules


class Occurrence(NamedTuple):
    """A word with rules in a text: its characters from `start` to `end`, exclusive."""

    start: int
    end: int
    rules: Rules


def find_occurrences(lexicon: Lexicon, texts: Sequence[str]) -> List[List[Occurrence]]:
    """Find all words that have rules, overlapping, of any length: options of matching are for candidate words.

    lexicon (Lexicon): The lexicon.
    texts (Sequence[str]): The texts.
    RETURNS (List[List[Occurrence]]): For each text, ordered by start, then by length.
    """
    found: List[List[Occurrence]] = [[] for _ in texts]
    if lexicon.has_rules:
        words, borders = Matcher(lexicon).match(texts)
        for i, rules in sorted(lexicon.rules(words.hashes).items()):
            text = int(np.searchsorted(borders, i, "right")) - 1
            found[text].append(Occurrence(int(words.starts[i]), int(words.ends[i]), rules))
    return found
