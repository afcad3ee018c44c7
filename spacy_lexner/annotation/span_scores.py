"""Probabilities of annotated spans under a model, and other spans that it finds probable."""

from contextlib import contextmanager
from typing import Dict, Iterator, List, NamedTuple, Sequence, Tuple

from spacy.language import Language
from spacy.tokens import Doc

from ..pipeline.annotate_texts import annotate_texts
from ..pipeline.ner.entity_writer import read_uncertain
from ..pipeline.ner.lex_ner import LexNER
from ..pipeline.ner.place_scores import score_places
from ..visualize.lattice import Mark, read_marks

LIKELY = 0.5  # the probability above which no two spans can overlap


class ScoredText(NamedTuple):
    """The spans of a text with their probabilities."""

    asked: List[Mark]  # the given spans, in their order
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
    YIELDS (Tuple[int, ScoredText]): The index of a text, and its scores; in order.
    """
    ner = next((pipe for _, pipe in reversed(nlp.pipeline) if isinstance(pipe, LexNER)), None)
    if ner is None:
        for i, doc in annotate_texts(nlp, texts, failed):
            found = _found(doc)
            scores = {mark[:3]: mark.score or 0.0 for mark in found}
            marks = [mark._replace(score=scores.get(mark[:3], 0.0)) for mark in asked[i]]
            yield i, ScoredText(marks, [mark for mark in found if (mark.score or 0.0) >= LIKELY])
        return
    with _all_likely(ner):
        for i, doc in annotate_texts(nlp, texts, failed):
            scored = score_places(nlp, ner, doc.text, [mark[:3] for mark in asked[i]])
            yield i, ScoredText([mark._replace(score=p) for mark, p in zip(asked[i], scored)], _likely(doc))


@contextmanager
def _all_likely(ner: LexNER) -> Iterator[None]:
    """Make `lex_ner` note all spans with a probability of at least LIKELY within a `with` block."""
    before, ner.uncertain = ner.uncertain, (LIKELY, 1.0)
    try:
        yield
    finally:
        ner.uncertain = before


def _likely(doc: Doc) -> List[Mark]:
    return [Mark(*span) for span in read_uncertain(doc)]


def _found(doc: Doc) -> List[Mark]:
    """RETURNS (List[Mark]): The spans of `spancat` with their scores, or else the entities of a Doc, each with its
    score or 1."""
    for group in doc.spans.values():
        if "scores" in group.attrs:
            marks = zip(read_marks(list(group)), group.attrs["scores"])
            return [mark._replace(score=float(score)) for mark, score in marks]
    return [mark if mark.score is not None else mark._replace(score=1.0) for mark in read_marks(doc.ents)]
