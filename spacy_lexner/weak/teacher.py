"""Annotating texts with what a teacher is sure of, for a student to learn from."""

from pathlib import Path
from typing import Iterable, Iterator, List, NamedTuple, Sequence

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import minibatch
from tqdm import tqdm

from ..candidates.doc_parts import copy_tokens
from ..formats.spacy_file import read_all
from ..pipeline.ner.calibration import Confidence
from ..pipeline.ner.entity_search import Entity
from ..pipeline.ner.gold_entities import POSSIBLE_KEY
from ..pipeline.ner.lex_ner import LexNER
from ..pipeline.read_upto import read_upto
from ..pipeline.token_runs import find_runs
from ..report.calibrate import fit
from ..report.confidence import judge
from ..report.gold import GoldText
from ..report.predict import find_lex_ner, predict_uncalibrated
from ..tagging.spans.tag_scheme import OUTSIDE, TagSpan


class Bounds(NamedTuple):
    """How sure a teacher must be."""

    upper: float = 0.9  # spans of at least this score are known entities
    lower: float = 0.05  # tokens that are in an entity with at most this probability are known to be outside

    def check(self) -> "Bounds":
        """RETURNS (Bounds): The same bounds. Raises ValueError unless 0 < lower < upper < 1."""
        if not 0 < self.lower < self.upper < 1:
            raise ValueError(f"bounds {self.lower} and {self.upper}: expected 0 < lower < upper < 1.")
        return self


def calibrate(nlp: Language, gold: Sequence[GoldText]) -> None:
    """Calibrate the scores of a pipeline's `lex_ner` on annotated texts that it has not learned from. If it finds
    nothing in them, its scores stay probabilities."""
    ner = find_lex_ner(nlp)
    try:
        outcomes = predict_uncalibrated(nlp, ner, gold).outcomes(gold)
    except ValueError:
        return
    ner.set_confidence(fit(judge(outcome for own in outcomes for outcome in own)), ner.cfg["threshold"])


def teach(nlp: Language, docs: Iterable[Doc], bounds: Bounds) -> Iterator[Doc]:
    """Annotate texts with what a teacher is sure of; everything else stays missing. Spans that it is not sure of are
    possible entities (`lex_possible`).

    nlp (Language): The teacher, with one `lex_ner`; its scores should be calibrated.
    docs (Iterable[Doc]): The texts, with the entities known from a dictionary. These are kept unless the teacher is
        sure of another entity there, or finds them improbable.
    bounds (Bounds): How sure the teacher must be.
    YIELDS (Doc): New Docs, in order.
    """
    ner = find_lex_ner(nlp)
    for batch in minibatch(docs, nlp.batch_size):
        read = [read_upto(nlp, ner, doc.text) for doc in batch]
        units, search = ner.search(read)
        known = [unit_spans(doc, unit, ner) for doc, unit in zip(batch, units)]
        likely, tags, of_known = search.spans_above(bounds.lower), search.tag_scores(), search.span_scores(known)
        confidence = Confidence.from_cfg(ner.cfg)
        for i, unit in enumerate(units):
            scored = [(span, _score(confidence, ner, span, p)) for span, p in likely[i]]
            sure = sorted((row for row in scored if row[1] >= bounds.upper), key=lambda row: -row[1])
            kept = [span for span, p in zip(known[i], of_known[i]) if p >= bounds.lower]
            outside = 1 - tags[i][:, OUTSIDE] <= bounds.lower
            taught = _annotate(unit, [*(span for span, _ in sure), *kept], outside, ner.labels)
            if unsure := [_span(taught, span, ner.labels) for span, score in scored if score < bounds.upper]:
                taught.spans[POSSIBLE_KEY] = unsure
            yield taught


def teach_files(nlp: Language, paths: Iterable[Path], bounds: Bounds) -> Iterator[Doc]:
    """Annotate the Docs of files, see `teach`."""
    docs = (doc for path in paths for doc in read_all(path))
    return teach(nlp, tqdm(docs, desc="teaching", unit=" texts", disable=None, leave=False), bounds)


def unit_spans(doc: Doc, unit: Doc, ner: LexNER) -> List[TagSpan]:
    """RETURNS (List[TagSpan]): The entities of a Doc, on the units of a component and with labels that it has."""
    spans = (unit.char_span(ent.start_char, ent.end_char, label=ent.label_) for ent in doc.ents)
    return [
        TagSpan(span.start, span.end, ner.scheme.index(span.label_))
        for span in spans
        if span is not None and span.label_ in ner.labels
    ]


def _score(confidence: Confidence, ner: LexNER, span: TagSpan, probability: float) -> float:
    return confidence.score(Entity(span.start, span.end, ner.labels[span.label], probability))


def _annotate(unit: Doc, spans: Sequence[TagSpan], outside: np.ndarray, labels: Sequence[str]) -> Doc:
    """Make a new Doc with these spans as entities (of overlapping ones the first) and these tokens outside."""
    doc = copy_tokens(unit)
    free, chosen = np.ones(len(doc), bool), []
    for span in spans:
        if free[span.start : span.end].all():
            free[span.start : span.end] = False
            chosen.append(_span(doc, span, labels))
    doc.set_ents(chosen, outside=[doc[a:b] for a, b in find_runs(outside & free)], default="missing")
    return doc


def _span(doc: Doc, span: TagSpan, labels: Sequence[str]) -> Span:
    return Span(doc, span.start, span.end, label=labels[span.label])
