"""The most probable entities of Docs, given what is known of them and the rules of their words."""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from spacy.tokens import Doc, Span

from ...candidates.attended_words import AttendedWords
from ...lexicon.matcher import Matcher
from ...lexicon.rules import FORBID, FORCE, Rule
from ...tagging.spans.tag_scheme import Bools2d, NoPathError, TagScheme, TagSpan
from ...tagging.spans.word_rules import NO_RULES, DocRules, RuleConflict, RuleMatch, apply_rules, raise_for_rules
from .alternatives import Reading
from .uncertain_spans import Doubt

ENTITY = "ENTITY"  # in rules: an entity, whatever its label


class Entity(NamedTuple):
    """A predicted entity, or a span that may be one: tokens from `start` to `end` (exclusive), label, probability."""

    start: int
    end: int
    label: str
    score: float


class Limits(NamedTuple):
    """What is known of the entities of a Doc.

    allowed (Bools2d): The tags that tokens may have.
    kept (List[Span]): The entities that it has and keeps.
    rules (DocRules): The rules of its words.
    matcher (Optional[Matcher]): The state of the lexicon that holds for it.
    """

    allowed: Bools2d
    kept: List[Span]
    rules: DocRules
    matcher: Optional[Matcher]


class Wanted(NamedTuple):
    """What is to be found besides the entities.

    n_alternatives (int): The number of readings; 0 for none.
    doubt (Optional[Doubt]): Which spans are uncertain; None if these are not wanted.
    """

    n_alternatives: int = 0
    doubt: Optional[Doubt] = None


class Prediction(NamedTuple):
    """What is predicted for a Doc.

    entities (List[Entity]): The entities, without those that it has already and keeps.
    readings (List[Reading]): The most probable readings, with all entities, those that it keeps included.
    uncertain (List[Entity]): The spans with a probability in doubt.
    conflicts (List[RuleConflict]): The rules that were not followed.
    matcher (Optional[Matcher]): The state of the lexicon that held for it.
    attended (Optional[AttendedWords]): The attention of its tokens to candidate words, if that was asked for.
    """

    entities: List[Entity]
    readings: List[Reading]
    uncertain: List[Entity]
    conflicts: List[RuleConflict]
    matcher: Optional[Matcher]
    attended: Optional[AttendedWords] = None


NOTHING = Prediction([], [Reading(1.0, 0.0, [])], [], [], None)


def find_entities(
    head: Any,
    outputs: Any,
    docs: Sequence[Doc],
    limits: Sequence[Limits],
    scheme: TagScheme,
    component: str,
    wanted: Wanted,
) -> List[Prediction]:
    """Find the most probable entities.

    head (TaggerHead): The head of the tagger.
    outputs (Tuple[List[Floats2d], Floats2d]): The output of the tagger.
    docs (Sequence[Doc]): The Docs.
    limits (Sequence[Limits]): What is known of each.
    scheme (TagScheme): All labels, those that only rules use included.
    component (str): The component's name, for what is told about rules.
    wanted (Wanted): What is to be found besides.
    RETURNS (List[Prediction]): The entities of each. Raises ValueError where rules leave no reading.
    """
    search = head.search(outputs, [known.allowed for known in limits], [known.rules.spans for known in limits])
    try:
        best = [scheme.decode(path) for path in search.best()]
    except NoPathError as error:
        raise_for_rules(error, [doc.text for doc in docs], [known.rules for known in limits], component)
        raise
    new = [_without(spans, known.kept) for spans, known in zip(best, limits)]
    scores = search.span_scores(new)
    readings = _find_readings(search, limits, scheme, wanted.n_alternatives)
    uncertain = _find_uncertain(search, limits, scheme, wanted.doubt)
    return [
        Prediction(
            [Entity(span.start, span.end, scheme.labels[span.label], float(p)) for span, p in zip(new[i], scores[i])],
            readings[i],
            uncertain[i],
            known.rules.all_conflicts(best[i], component),
            known.matcher,
        )
        for i, known in enumerate(limits)
    ]


def score_entities(
    head: Any,
    outputs: Any,
    limits: Sequence[Limits],
    scheme: TagScheme,
    spans: Sequence[Sequence[Tuple[int, int, str]]],
) -> List[List[float]]:
    """Give the probabilities of spans, given what is known of their Docs.

    head, outputs, limits: As in `find_entities`.
    scheme (TagScheme): The labels of the model.
    spans (Sequence[Sequence[Tuple[int, int, str]]]): For each Doc start, end (exclusive) and label of spans of tokens.
    RETURNS (List[List[float]]): The probabilities. Raises ValueError for a label that the model does not have.
    """
    search = head.search(outputs, [known.allowed for known in limits], [known.rules.spans for known in limits])
    wanted = [[TagSpan(start, end, scheme.index(label)) for start, end, label in own] for own in spans]
    return [scores.tolist() for scores in search.span_scores(wanted)]


def _find_readings(search: Any, limits: Sequence[Limits], scheme: TagScheme, k: int) -> List[List[Reading]]:
    if not k:
        return [[] for _ in limits]
    readings: List[List[Reading]] = []
    for found, known in zip(search.k_best(k), limits):
        kept = [(ent.start, ent.end, ent.label_) for ent in known.kept]
        readings.append([])
        for reading in found:
            new = _without(scheme.decode(reading.tags), known.kept)
            spans = sorted([*kept, *((start, end, scheme.labels[label]) for start, end, label in new)])
            readings[-1].append(Reading(reading.probability, reading.log_probability, spans))
    return readings


def _find_uncertain(
    search: Any, limits: Sequence[Limits], scheme: TagScheme, doubt: Optional[Doubt]
) -> List[List[Entity]]:
    if doubt is None:
        return [[] for _ in limits]
    uncertain = []
    for likely, known in zip(search.spans_above(doubt.low), limits):
        probabilities = dict(likely)
        spans = _without([span for span, p in likely if p <= doubt.high], known.kept)
        uncertain.append([Entity(s.start, s.end, scheme.labels[s.label], probabilities[s]) for s in spans])
    return uncertain


def _without(spans: Sequence[TagSpan], kept: Sequence[Span]) -> List[TagSpan]:
    there = {(span.start, span.end) for span in kept}
    return [span for span in spans if (span.start, span.end) not in there]


def decree_entities(
    doc: Doc,
    words: Sequence[RuleMatch],
    labels: Sequence[str],
    rule_labels: Sequence[str],
    kept: Sequence[Span],
    blocked: Sequence[Span],
) -> DocRules:
    """Turn the rules of words into rules about entities. What a Doc keeps wins over them.

    doc (Doc): The Doc.
    words (Sequence[RuleMatch]): Its words that have rules.
    labels (Sequence[str]): The labels of the model, in the order of their numbers.
    rule_labels (Sequence[str]): The labels that only rules use, whose numbers come behind.
    kept (Sequence[Span]): The entities that the Doc keeps.
    blocked (Sequence[Span]): Its tokens that are to be in no entity.
    RETURNS (DocRules): The rules.
    """
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
