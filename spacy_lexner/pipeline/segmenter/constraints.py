"""Constraints on the words of a Doc, known before the search: borders, and the rules of lexicon words."""

from itertools import pairwise
from typing import Collection, NamedTuple, Optional, Sequence

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE, SENT_START
from spacy.tokens import Doc

from ...candidates.unit_docs import BEGIN, is_space
from ...lexicon.matcher import Matcher
from ...lexicon.rules import FORBID, FORCE, Rule
from ...tagging.spans.tag_scheme import Bools2d, Ints1d
from ...tagging.spans.word_borders import BORDER, FREE, UNKNOWN, Borders, border_tags
from ...tagging.spans.word_rules import NO_RULES, DocRules, RuleMatch, apply_rules

WORD = "WORD"  # the label of words without parts of speech; in rules a word with any part of speech


class Constraints(NamedTuple):
    """Constraints on the words of a Doc."""

    borders: Borders  # those known in any text (see `word_borders.fixed_borders`)
    edges: Ints1d  # other tokens at which a word must begin, since an entity, sentence or span begins or ends there
    rules: DocRules = NO_RULES  # of lexicon words
    matcher: Optional[Matcher] = None  # the state of the lexicon that applies to the Doc

    @property
    def all_borders(self) -> Borders:
        """The borders, including those at the edges."""
        borders = self.borders.copy()
        borders[self.edges] = BORDER
        return borders


def allowed_tags(doc: Doc, borders: Borders, n_labels: int) -> Bools2d:
    """The tags compatible with borders, [n_tokens, n_tags]. All tokens except white space are in words of any label."""
    return border_tags(borders, np.full(len(doc), UNKNOWN, dtype=np.int64), is_space(doc), n_labels)


def kept_edges(doc: Doc, span_keys: Collection[str] = ()) -> Ints1d:
    """The tokens, sorted, at which a word must begin so that nothing is cut: first tokens of entities and sentences,
    tokens after entities, and both for spans under `span_keys` of `doc.spans`; without 0 and the number of tokens."""
    if not len(doc):
        return np.zeros(0, dtype=np.int64)
    iob, types, starts = doc.to_array([ENT_IOB, ENT_TYPE, SENT_START]).T
    entity = types != 0
    edges = (entity & (iob == BEGIN)) | (starts == 1)
    edges[1:] |= entity[1:] != entity[:-1]
    spans = [edge for key in span_keys for span in doc.spans.get(key, ()) for edge in (span.start, span.end)]
    found = np.union1d(np.flatnonzero(edges), np.array(spans, dtype=np.int64))
    return found[(found > 0) & (found < len(doc))]


def apply_word_rules(
    doc: Doc, words: Sequence[RuleMatch], labels: Sequence[str], borders: Borders, edges: Ints1d
) -> DocRules:
    """Turn the rules of lexicon words into rules about the words of a Doc. A forced word is a word, with the part of
    speech of its rule, if any. Known borders and edges (see `Constraints`) win over rules."""
    if not words:
        return NO_RULES
    numbers = {label: [i] for i, label in enumerate(labels)}
    numbers[""] = numbers[WORD] = list(range(len(labels)))
    known = Constraints(borders, edges).all_borders

    def find_kept(word: RuleMatch, rule: Rule) -> str:
        inside = known[word.start + 1 : word.end]
        if rule.mode == FORCE:
            cuts = [word.start, *(np.flatnonzero(inside == BORDER) + word.start + 1).tolist(), word.end]
            return "|".join(doc[a:b].text for a, b in pairwise(cuts)) if len(cuts) > 2 else ""
        fixed = known[word.start] == known[word.end] == BORDER and not np.isin(inside, [BORDER, FREE]).any()
        return word.word if rule.mode == FORBID and fixed and len(numbers[rule.label]) == len(labels) else ""

    return apply_rules(doc, words, lambda rule: numbers[rule.label], find_kept)
