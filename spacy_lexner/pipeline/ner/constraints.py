"""What is known of the entities of a Doc before the search: those it already has, and the rules of its words."""

from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from spacy.tokens import Doc, Span

from ...candidates.unit_docs import is_space
from ...lexicon.matcher import Matcher
from ...lexicon.rules import FORBID, FORCE, Rule
from ...tagging.spans.tag_scheme import Bools2d, TagScheme, TagSpan
from ...tagging.spans.word_rules import NO_RULES, DocRules, RuleMatch, apply_rules
from ..token_runs import find_runs

ENTITY = "ENTITY"  # in rules: an entity with any label
BEGIN = 3  # in ENT_IOB; a token without a type that has it is marked as outside of entities


class Constraints(NamedTuple):
    """What is known of the entities of a Doc."""

    allowed: Bools2d  # the tags that tokens may have, [n_tokens, n_tags]
    kept: Sequence[Span]  # the entities that it has and keeps
    rules: DocRules  # of its words
    matcher: Optional[Matcher]  # the state of the lexicon that holds for it

    @property
    def forced(self) -> Set[Tuple[int, int]]:
        """The (start, end) of the spans that rules force."""
        return {(span.start, span.end) for span in self.rules.spans.forced}

    def drop_kept(self, spans: Sequence[TagSpan]) -> List[TagSpan]:
        """The spans that are not where the Doc has an entity that it keeps."""
        places = {(span.start, span.end) for span in self.kept}
        return [span for span in spans if (span.start, span.end) not in places]


def present_entities(doc: Doc) -> List[Span]:
    """The entities of a Doc."""
    return list(doc.ents) if doc.to_array("ENT_TYPE").any() else []


def blocked_spans(doc: Doc) -> List[Span]:
    """The runs of tokens that are marked as outside of entities (`Doc.set_ents(blocked=...)`)."""
    if not len(doc):
        return []
    blocked = (doc.to_array("ENT_IOB") == BEGIN) & (doc.to_array("ENT_TYPE") == 0)
    return [Span(doc, start, end) for start, end in find_runs(blocked)]


def kept_spans(doc: Doc, overwrite: bool) -> Tuple[List[Span], List[Span]]:
    """The entities and the blocked tokens of a Doc that are kept: all, or with `overwrite` none."""
    if overwrite or not doc.has_annotation("ENT_IOB"):  # most Docs
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
    """Turn the rules of words into rules about entities; what the Doc keeps wins over them. Labels are numbered: those
    of the model first, then `rule_labels`, which only rules use."""
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
