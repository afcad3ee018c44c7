"""Probabilities of annotated spans under a model, and other spans that it finds probable."""

from contextlib import contextmanager, nullcontext
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from spacy.language import Language
from spacy.tokens import Doc

from ..pipeline.annotate_texts import annotate_texts
from ..pipeline.ner.entity_writer import read_uncertain
from ..pipeline.ner.lex_ner import LexNER
from ..pipeline.ner.place_scores import score_places
from ..visualize.lattice import Mark, read_marks
from .judged_labels import judged_labels, last_lex_ner

LIKELY = 0.5  # the probability above which no two spans can overlap


class ScoredText(NamedTuple):
    """The spans of a text with their probabilities."""

    asked: List[Mark]  # the given spans, in their order; without a score if the model does not know the label
    likely: List[Mark]  # all spans with a probability of at least LIKELY


def score_texts(
    nlp: Language, texts: Sequence[str], asked: Sequence[Sequence[Mark]], failed: Dict[int, str]
) -> Iterator[Tuple[int, ScoredText]]:
    """Score spans. A pipeline with `lex_ner` computes the exact probability of any span; one with `spancat` scores the
    spans that it suggests; any other that sets `doc.ents` only says whether it finds a span.

    nlp (Language): A pipeline that has not seen the texts.
    texts (Sequence[str]): The texts.
    asked (Sequence[Sequence[Mark]]): The spans of each text, by characters.
    failed (Dict[int, str]): Gets the error of each text that cannot be processed.
    YIELDS (Tuple[int, ScoredText]): The index of a text, and its scores; in order. Raises ValueError if no component
        can judge a span.
    """
    labels, ner = judged_labels(nlp), last_lex_ner(nlp)
    with nullcontext() if ner is None else _all_likely(ner):
        for i, doc in annotate_texts(nlp, texts, failed):
            if ner is None:
                found = _found(doc)
                scores = [found.get(mark[:3], 0.0) for mark in asked[i]]
            else:
                found = {(start, end, label): p for start, end, label, p in read_uncertain(doc)}
                scores = score_places(nlp, ner, doc.text, [mark[:3] for mark in asked[i]])
            known = [labels is None or mark.label in labels for mark in asked[i]]
            marks = [mark._replace(score=p if k else None) for mark, p, k in zip(asked[i], scores, known)]
            yield i, ScoredText(marks, [Mark(*place, p) for place, p in found.items() if p >= LIKELY])


@contextmanager
def _all_likely(ner: LexNER) -> Iterator[None]:
    """Make `lex_ner` note all spans with a probability of at least LIKELY within a `with` block."""
    before, ner.uncertain = ner.uncertain, (LIKELY, 1.0)
    try:
        yield
    finally:
        ner.uncertain = before


def _found(doc: Doc) -> Dict[Tuple[int, int, str], float]:
    """RETURNS (Dict[Tuple[int, int, str], float]): The spans of every `spancat` with their scores, or else the entities
    of a Doc, each with its score or 1."""
    groups = [group for group in doc.spans.values() if "scores" in group.attrs]
    scored: Iterable[Tuple[Mark, Optional[float]]] = ((mark, mark.score) for mark in read_marks(doc.ents))
    if groups:
        scored = (pair for group in groups for pair in zip(read_marks(list(group)), group.attrs["scores"]))
    found: Dict[Tuple[int, int, str], float] = {}
    for mark, score in scored:
        found[mark[:3]] = max(found.get(mark[:3], 0.0), 1.0 if score is None else float(score))
    return found
