"""The most probable entities of Docs, given what is known of them and the rules of their words."""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from spacy.tokens import Doc, Span

from ..layers.ruled_words import RuledWord
from ..layers.tag_scheme import Bools2d, NoPathError, TagScheme, TagSpan
from ..layers.word_rules import NO_RULES, DocRules, RuleConflict, decree
from ..lexicon.matcher import Matcher
from ..lexicon.rules import FORBID, FORCE, Rule


class Entity(NamedTuple):
    """A predicted entity: tokens from `start` to `end` (exclusive), label, probability."""

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


class Prediction(NamedTuple):
    """What is predicted for a Doc.

    entities (List[Entity]): The entities, without those that it has already and keeps.
    conflicts (List[RuleConflict]): The rules that were not followed.
    matcher (Optional[Matcher]): The state of the lexicon that held for it.
    """

    entities: List[Entity]
    conflicts: List[RuleConflict]
    matcher: Optional[Matcher]


NOTHING = Prediction([], [], None)


def find_entities(
    head: Any, outputs: Any, docs: Sequence[Doc], limits: Sequence[Limits], scheme: TagScheme, component: str
) -> List[Prediction]:
    """Find the most probable entities.

    head (TaggerHead): The head of the tagger.
    outputs (Tuple[List[Floats2d], Floats2d]): The output of the tagger.
    docs (Sequence[Doc]): The Docs.
    limits (Sequence[Limits]): What is known of each.
    scheme (TagScheme): All labels, those that only rules use included.
    component (str): The component's name, for what is told about rules.
    RETURNS (List[Prediction]): The entities of each. Raises ValueError where rules leave no reading.
    """
    search = head.search(outputs, [known.allowed for known in limits], [known.rules.spans for known in limits])
    try:
        paths = search.best()
    except NoPathError as error:
        for i in error.docs:
            if limits[i].rules.words:
                raise ValueError(f"{component}: {limits[i].rules.explain_impossible(docs[i].text)}") from None
        raise
    readings = [scheme.decode(path) for path in paths]
    new = [_without(spans, known.kept) for spans, known in zip(readings, limits)]
    scores = search.span_scores(new)
    return [
        Prediction(
            [Entity(span.start, span.end, scheme.labels[span.label], float(p)) for span, p in zip(spans, scored)],
            known.rules.all_conflicts(reading, component),
            known.matcher,
        )
        for reading, spans, scored, known in zip(readings, new, scores, limits)
    ]


def _without(spans: Sequence[TagSpan], kept: Sequence[Span]) -> List[TagSpan]:
    there = {(span.start, span.end) for span in kept}
    return [span for span in spans if (span.start, span.end) not in there]


def decree_entities(
    doc: Doc, words: Sequence[RuledWord], labels: Sequence[str], kept: Sequence[Span], blocked: Sequence[Span]
) -> DocRules:
    """Turn the rules of words into rules about entities. What a Doc keeps wins over them.

    doc (Doc): The Doc.
    words (Sequence[RuledWord]): Its words that have rules.
    labels (Sequence[str]): All labels, in the order of their numbers.
    kept (Sequence[Span]): The entities that the Doc keeps.
    blocked (Sequence[Span]): Its tokens that are to be in no entity.
    RETURNS (DocRules): The rules.
    """
    if not words:
        return NO_RULES
    numbers = {label: [i] for i, label in enumerate(labels)}
    numbers[""] = list(range(len(labels)))
    stay: Dict[int, Span] = {token: span for span in (*kept, *blocked) for token in range(span.start, span.end)}

    def find_kept(word: RuledWord, rule: Rule) -> str:
        for span in filter(None, map(stay.get, range(word.start, word.end))):
            is_it = (span.start, span.end) == (word.start, word.end) and span.label_ and rule.label in ("", span.label_)
            if (rule.mode == FORCE and not is_it) or (rule.mode == FORBID and is_it):
                return span.text
        return ""

    return decree(doc, words, lambda rule: numbers[rule.label], find_kept)
