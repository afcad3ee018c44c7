"""Constraints on the entities of a Doc, known before the search: entities it already has, and rules of its words."""

from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from spacy.tokens import Doc, Span

from ...candidates.unit_docs import BEGIN, is_space
from ...lexicon.matcher import Matcher
from ...lexicon.rules import FORBID, FORCE, Rule
from ...tagging.spans.tag_scheme import Bools2d, TagScheme, TagSpan
from ...tagging.spans.word_rules import NO_RULES, DocRules, RuleMatch, apply_rules
from ..token_runs import find_runs

ENTITY = "ENTITY"  # in rules: an entity with any label


class Constraints(NamedTuple):
    """Constraints on the entities of a Doc."""

    allowed: Bools2d  # the tags that tokens may have, [n_tokens, n_tags]
    kept: Sequence[Span]  # the entities that it already has and keeps
    rules: DocRules  # of its words
    matcher: Optional[Matcher]  # the state of the lexicon that applies to it

    @property
    def forced(self) -> Set[Tuple[int, int]]:
        """The (start, end) of the spans forced by rules."""
        return {(span.start, span.end) for span in self.rules.spans.forced}

    def drop_kept(self, spans: Sequence[TagSpan]) -> List[TagSpan]:
        """Drop the spans at the places of entities that the Doc keeps."""
        places = {(span.start, span.end) for span in self.kept}
        return [span for span in spans if (span.start, span.end) not in places]


def present_entities(doc: Doc) -> List[Span]:
    """The entities of a Doc."""
    return list(doc.ents) if doc.to_array("ENT_TYPE").any() else []


def blocked_spans(doc: Doc) -> List[Span]:
    """The runs of tokens marked as outside entities (`Doc.set_ents(blocked=...)`)."""
    if not len(doc):
        return []
    blocked = (doc.to_array("ENT_IOB") == BEGIN) & (doc.to_array("ENT_TYPE") == 0)
    return [Span(doc, start, end) for start, end in find_runs(blocked)]


def kept_spans(doc: Doc, overwrite: bool) -> Tuple[List[Span], List[Span]]:
    """The entities and the blocked tokens that a Doc keeps: all, or none with `overwrite`."""
    if overwrite or not doc.has_annotation("ENT_IOB"):  # the most frequent case
        return [], []
    return present_entities(doc), blocked_spans(doc)


def allowed_tags(doc: Doc, scheme: TagScheme, kept: Sequence[Span], blocked: Sequence[Span]) -> Bools2d:
    """The tags that tokens may have, [n_tokens, n_tags]: no entity begins or ends with white space, or contradicts the
    entities and blocked tokens that the Doc keeps."""
    spans, outside = [], [(span.start, span.end) for span in blocked]
    for ent in kept:
        if ent.label_ in scheme.labels:
            spans.append(TagSpan(ent.start, ent.end, scheme.index(ent.label_)))
        else:
            outside.append((ent.start, ent.end))
    return scheme.constraint(is_space(doc), spans, outside)


def apply_entity_rules(
    doc: Doc,
    words: Sequence[RuleMatch],
    labels: Sequence[str],
    rule_labels: Sequence[str],
    kept: Sequence[Span],
    blocked: Sequence[Span],
) -> DocRules:
    """Turn the rules of words into rules about entities; entities and blocked tokens that the Doc keeps win over them.
    Labels are numbered: those of the model first, then `rule_labels`, which only rules use."""
    if not words:
        return NO_RULES
    numbers = {label: [i] for i, label in enumerate((*labels, *rule_labels))}
    numbers.setdefault(ENTITY, list(range(len(labels))))
    numbers[""] = list(range(len(labels) + len(rule_labels)))
    stay: Dict[int, Span] = {token: span for span in (*kept, *blocked) for token in range(span.start, span.end)}

    def is_meant(rule: Rule, label: str) -> bool:
        return label == rule.label or bool(label and rule.label in ("", ENTITY))

    def find_kept(word: RuleMatch, rule: Rule) -> str:
        for span in filter(None, map(stay.get, range(word.start, word.end))):
            is_it = (span.start, span.end) == (word.start, word.end) and is_meant(rule, span.label_)
            if (rule.mode == FORCE and not is_it) or (rule.mode == FORBID and is_it):
                return span.text
        return ""

    return apply_rules(doc, words, lambda rule: numbers[rule.label], find_kept)
