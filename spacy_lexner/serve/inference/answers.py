"""The annotations of a Doc as JSON."""

from typing import Any, Callable, Dict, List, Optional

from spacy.tokens import Doc, Span

from ...candidates.storage import get_candidates
from ...formats.offsets import CODE_POINTS, UTF_16, Offsets
from ...lexicon.matcher import Matcher
from ...pipeline.exact_offsets import get_offsets
from ...pipeline.ner.entity_search import get_alternatives
from ...pipeline.ner.entity_writer import read_uncertain
from ...pipeline.rule_follower import get_conflicts
from ..wanted import Wanted

Json = Dict[str, Any]


def to_answer(doc: Doc, text: str, wanted: Wanted, matcher: Optional[Matcher]) -> Json:
    """Describe the annotations of a Doc.

    doc (Doc): The Doc.
    text (str): Its text, which `doc.text` would join from the tokens at each call.
    wanted (Wanted): What to return.
    matcher (Optional[Matcher]): The state of the dictionary with which it was annotated.
    RETURNS (Dict[str, Any]): The answer, ready for JSON.
    """
    span = _placer(text, wanted.utf16)
    answer: Json = {"entities": [_entity(ent, text, span, wanted) for ent in doc.ents]}
    answer["conflicts"] = [
        {"word": c.word, **span(c.start_char, c.end_char), "rule": c.rule, "reason": c.reason, "winner": c.winner}
        for c in get_conflicts(doc)
    ]
    if wanted.words:
        answer["words"] = _words(doc, text, span, matcher)
    if wanted.alternatives:
        answer["alternatives"] = [
            {
                "probability": path.probability,
                "entities": [
                    {**span(ent.start_char, ent.end_char), "text": ent.text, "label": ent.label}
                    for ent in path.entities
                ],
            }
            for path in get_alternatives(doc)
        ]
    if wanted.uncertain is not None:
        answer["uncertain"] = _uncertain(doc, text, span)
    if wanted.tokens:
        answer["tokens"] = [span(token.idx, token.idx + len(token)) for token in doc]
    return answer


def _placer(text: str, utf16: bool) -> Callable[[int, int], Json]:
    """Get a function that turns characters into the offsets of an answer."""
    offsets = Offsets(text, UTF_16 if utf16 else CODE_POINTS)
    return lambda start, end: {"start": offsets.encode(start), "end": offsets.encode(end)}


def _entity(ent: Span, text: str, span: Callable[[int, int], Json], wanted: Wanted) -> Json:
    start, end = get_offsets(ent)
    score = ent._.lex_score if Span.has_extension("lex_score") else None
    entity = {**span(start, end), "text": text[start:end], "label": ent.label_, "score": score}
    if wanted.tokens:
        entity["tokens"] = [ent.start, ent.end]
    if wanted.explain is not None:
        entity["rests_on"] = [
            {
                **span(word.start, word.end),
                "word": word.word,
                "attention": word.weight,
                "change": word.change,
                "labels": list(word.labels),
            }
            for word in ent._.lex_words or ()
        ]
    return entity


def _words(doc: Doc, text: str, span: Callable[[int, int], Json], matcher: Optional[Matcher]) -> List[Json]:
    stored = get_candidates(doc)
    if stored is None or matcher is None:
        return []
    starts, ends, hashes = stored[1]
    labels, rules = matcher.lexicon.labels(hashes), matcher.lexicon.rules(hashes)
    return [
        {
            **span(start, end),
            "word": text[start:end],
            "labels": list(labels.get(i, ())),
            "rules": [str(rule) for rule in rules.get(i, ())],
        }
        for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist()))
    ]


def _uncertain(doc: Doc, text: str, span: Callable[[int, int], Json]) -> List[Json]:
    return [
        {**span(start, end), "text": text[start:end], "label": label, "score": score}
        for start, end, label, score in read_uncertain(doc)
    ]
