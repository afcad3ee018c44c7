"""Where the words that have rules stand in Docs. A word that begins or ends inside of a Latin word or a number is no
occurrence: AI in PAID, 5 in 15 (see `layers.whole_runs`)."""

from typing import Dict, List, NamedTuple, Optional, Sequence

import numpy as np
from spacy.tokens import Doc

from ...candidates.storage import token_borders
from ...lexicon.matcher import Matcher
from ...lexicon.occurrences import Occurrence, find_occurrences
from ...lexicon.rules import RuleReader, Rules
from .whole_runs import find_whole_runs


class RuledWord(NamedTuple):
    """An occurrence of a word that has rules.

    start_char (int), end_char (int): Its characters.
    start (int), end (int): The tokens that it touches.
    whole (bool): Whether it begins and ends with tokens, so that it can be a span.
    word (str): Its text.
    rules (Tuple[Rule, ...]): The rules that concern the component.
    """

    start_char: int
    end_char: int
    start: int
    end: int
    whole: bool
    word: str
    rules: Rules


def find_ruled_words(
    docs: Sequence[Doc], matchers: Sequence[Optional[Matcher]], reader: RuleReader
) -> List[List[RuledWord]]:
    """Find the words of Docs whose rules concern a component.

    docs (Sequence[Doc]): The Docs.
    matchers (Sequence[Optional[Matcher]]): For each the state of the lexicon that holds for it.
    reader (RuleReader): Which rules concern the component.
    RETURNS (List[List[RuledWord]]): The words of each Doc, ordered by start, then by length.
    """
    found: List[List[RuledWord]] = [[] for _ in docs]
    states: Dict[int, List[int]] = {}
    for i, matcher in enumerate(matchers):
        if matcher is not None and matcher.lexicon.has_rules:
            states.setdefault(id(matcher), []).append(i)
    for numbers in states.values():
        matcher = matchers[numbers[0]]
        if matcher is not None:
            for i, words in zip(numbers, find_occurrences(matcher.lexicon, [docs[i].text for i in numbers])):
                found[i] = _on_tokens(docs[i], words, reader)
    return found


def _on_tokens(doc: Doc, occurrences: List[Occurrence], reader: RuleReader) -> List[RuledWord]:
    rules = [tuple(rule for rule in each.rules if reader.concerns(rule)) for each in occurrences]
    kept = [(each, own) for each, own in zip(occurrences, rules) if own]
    if not kept:
        return []
    text = doc.text
    starts, ends = np.array([each[:2] for each, _ in kept], "i8").T
    cuts = _cuts_runs(text, np.stack([starts, ends]))
    stands = ~(cuts[0] | cuts[1])
    kept = [pair for pair, fits in zip(kept, stands.tolist()) if fits]
    starts, ends = starts[stands], ends[stands]
    begins, stops = token_borders(doc)
    first, last = np.searchsorted(stops, starts, "right"), np.searchsorted(begins, ends, "left")
    whole = (begins[first] == starts) & (stops[last - 1] == ends)
    return [
        RuledWord(each.start, each.end, start, end, fits, text[each.start : each.end], own)
        for (each, own), start, end, fits in zip(kept, first.tolist(), last.tolist(), whole.tolist())
    ]


def _cuts_runs(text: str, edges: np.ndarray) -> np.ndarray:
    """RETURNS (numpy.ndarray): bool, for each position in a text whether it lies inside of what is never cut."""
    starts, ends = find_whole_runs(text)
    if not len(starts):
        return np.zeros(edges.shape, bool)
    run = np.searchsorted(starts, edges, "left") - 1  # the last run that begins before the position
    return (run >= 0) & (edges < ends[run])
