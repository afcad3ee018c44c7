"""Gold entities as tags of the predicted tokens, spans that may be entities, spans marked as no entities, and entities
that cannot be learned as they are."""

from typing import Iterable, List, Optional, Sequence, Set, Tuple

import numpy as np
from spacy.attrs import ORTH, SPACY
from spacy.errors import Errors
from spacy.tokens import Doc, Span
from spacy.training import Example

from ...candidates.unit_docs import has_units, make_unit_docs
from ...tagging.spans.tag_scheme import OUTSIDE, Bools2d, TagScheme, TagSpan, span_tags
from ..gold_report import GoldReport

MISALIGNED, TRIMMED = "not on the boundaries of the tokenizer's tokens", "with white space at an edge"
# Span groups of reference Docs. Spans of the first are entities with one of several labels, a span for each; spans of
# the second are entities or not. They count where annotation is missing.
ONE_OF_KEY, POSSIBLE_KEY = "lex_one_of", "lex_possible"
CONSEQUENCES = {MISALIGNED: "their tokens count as not annotated", TRIMMED: "the white space is trained as outside"}


def gold_tags(example: Example) -> List[Optional[str]]:
    """BILUO tags of the predicted tokens, without white space at the edges of entities; None where annotation is
    missing or entities do not align."""
    reference = unit_reference(example)
    if _same_tokens(reference, example.predicted):  # spaCy's alignment takes longer than a step of a small encoder
        ents: Sequence[Span] = reference.ents
        tags: List[Optional[str]] = ["O" if iob else None for iob in reference.to_array("ENT_IOB").tolist()]
        for ent in ents:
            tags[ent.start : ent.end] = biluo(len(ent), ent.label_)
    else:
        ents, aligned = example.get_aligned_ents_and_ner()
        tags = list(aligned)
    for ent in ents:
        start, end = trim(example.predicted, ent)
        if (start, end) != (ent.start, ent.end):
            inner = biluo(end - start, ent.label_)
            tags[ent.start : ent.end] = ["O"] * (start - ent.start) + inner + ["O"] * (ent.end - end)
    return tags


def biluo(n_tokens: int, label: str) -> List[str]:
    """The tags of an entity of `n_tokens` tokens."""
    if n_tokens < 2:
        return [f"U-{label}"] * n_tokens
    return [f"B-{label}", *[f"I-{label}"] * (n_tokens - 2), f"L-{label}"]


def trim(doc: Doc, span: Span) -> Tuple[int, int]:
    """Start and end of a span without the white-space tokens at its edges."""
    start, end = span.start, span.end
    while end > start and doc[end - 1].is_space:
        end -= 1
    while start < end and doc[start].is_space:
        start += 1
    return start, end


def survey_entities(examples: Iterable[Example]) -> Tuple[Set[str], GoldReport]:
    """Collect the labels of training examples, and report entities that cannot be learned as they are."""
    labels: Set[str] = set()
    report = GoldReport()
    for example in examples:
        reference, predicted = unit_reference(example), example.predicted
        same = _same_tokens(reference, predicted)
        for key in (ONE_OF_KEY, POSSIBLE_KEY):
            labels.update(span.label_ for span in example.reference.spans.get(key, ()))
        for ent, given in zip(reference.ents, example.reference.ents):
            report.total += 1
            labels.add(ent.label_)
            aligned = [ent] if same else example.get_aligned_spans_y2x([given], allow_overlap=True)
            if not aligned:
                report.add_problem(MISALIGNED, reference, ent.start_char, ent.end_char, ent.label_)
            elif trim(predicted, aligned[0]) != (aligned[0].start, aligned[0].end):
                report.add_problem(TRIMMED, reference, ent.start_char, ent.end_char, ent.label_)
    return labels - {""}, report


def narrow(gold: Bools2d, example: Example, scheme: TagScheme) -> None:
    """Restrict the tags of tokens without annotation, in place, to those that spell the spans under `lex_one_of` and
    `lex_possible` there. Raises UnknownLabelError."""
    for key in (ONE_OF_KEY, POSSIBLE_KEY):
        if not example.reference.spans.get(key):
            continue
        missing, tags = np.asarray(gold.all(1)), np.zeros_like(gold)
        for span in example.get_aligned_spans_y2x(example.reference.spans[key], allow_overlap=True):
            if missing[span.start : span.end].all():
                place = TagSpan(span.start, span.end, scheme.index(span.label_))
                tags[np.arange(span.start, span.end), span_tags(place)] = True
                tags[span.start : span.end, OUTSIDE] |= key == POSSIBLE_KEY
        narrowed = np.flatnonzero(tags.any(1))
        gold[narrowed] = tags[narrowed]


def incorrect_spans(example: Example, key: Optional[str], scheme: TagScheme) -> List[TagSpan]:
    """The spans, on predicted tokens, that are marked as no entities by the reference's span group `key`. Raises
    ValueError if one is an entity."""
    if key is None or key not in example.reference.spans:
        return []
    ents = {(ent.start, ent.end, ent.label) for ent in example.get_aligned_spans_y2x(example.reference.ents)}
    incorrect = []
    for span in example.get_aligned_spans_y2x(example.reference.spans[key], allow_overlap=True):
        if (span.start, span.end, span.label) in ents:
            raise ValueError(Errors.E868.format(span=(span.start_char, span.end_char, span.label_)))
        if span.label_ in scheme.labels:  # other labels are never predicted, so there is nothing to unlearn
            incorrect.append(TagSpan(span.start, span.end, scheme.index(span.label_)))
    return incorrect


def unit_reference(example: Example) -> Doc:
    """The annotated Doc of an example, on units if those are the tokens of the predicted Doc."""
    return make_unit_docs([example.reference])[0] if has_units(example.predicted) else example.reference


def _same_tokens(a: Doc, b: Doc) -> bool:
    return len(a) == len(b) and np.array_equal(a.to_array([ORTH, SPACY]), b.to_array([ORTH, SPACY]))
