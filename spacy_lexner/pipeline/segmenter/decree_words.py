"""What the rules of the lexicon's words say about the words of a Doc."""

from itertools import pairwise
from typing import Sequence

import numpy as np
from spacy.tokens import Doc

from ...lexicon.rules import FORBID, FORCE, Rule
from ...tagging.spans.tag_scheme import Ints1d
from ...tagging.spans.word_borders import BORDER, FREE, Borders
from ...tagging.spans.word_rules import NO_RULES, DocRules, RuleMatch, apply_rules

WORD = "WORD"  # the label of words without parts of speech; in rules any word is meant, whatever its part of speech


def decree_words(
    doc: Doc, words: Sequence[RuleMatch], labels: Sequence[str], borders: Borders, edges: Ints1d
) -> DocRules:
    """Turn the rules of words into rules about the words of a Doc. A forced word is a word there, with the part of
    speech of its rule if that has one. What is known of borders wins over rules.

    doc (Doc): The Doc.
    words (Sequence[RuleMatch]): Its words that have rules.
    labels (Sequence[str]): The labels, in the order of their numbers.
    borders (Borders): What is known of borders in any text.
    edges (Ints1d): Tokens at which a word has to begin.
    RETURNS (DocRules): The rules.
    """
    if not words:
        return NO_RULES
    numbers = {label: [i] for i, label in enumerate(labels)}
    numbers[""] = numbers[WORD] = list(range(len(labels)))
    known = borders.copy()
    known[edges] = BORDER

    def find_kept(word: RuleMatch, rule: Rule) -> str:
        inside = known[word.start + 1 : word.end]
        if rule.mode == FORCE:
            cuts = [word.start, *(np.flatnonzero(inside == BORDER) + word.start + 1).tolist(), word.end]
            return "|".join(doc[a:b].text for a, b in pairwise(cuts)) if len(cuts) > 2 else ""
        fixed = known[word.start] == known[word.end] == BORDER and not np.isin(inside, [BORDER, FREE]).any()
        return word.word if rule.mode == FORBID and fixed and len(numbers[rule.label]) == len(labels) else ""

    return apply_rules(doc, words, lambda rule: numbers[rule.label], find_kept)
