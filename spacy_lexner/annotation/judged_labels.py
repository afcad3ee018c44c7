"""The labels that a pipeline can judge."""

from inspect import isfunction
from typing import Any, FrozenSet, List, Optional

from spacy.language import Language
from spacy.pipeline import SpanCategorizer

from ..pipeline.ner.lex_ner import LexNER

OWN = ("spacy", "spacy_lexner")  # the packages whose components declare what they set
ENTITIES, SPANS = {"doc.ents", "token.ent_type"}, {"doc.spans"}


def judged_labels(nlp: Language) -> Optional[FrozenSet[str]]:
    """Find the labels of the spans that a pipeline judges: those of the last `lex_ner`, or else of every `spancat`, or
    else of all components that set entities.

    nlp (Language): A pipeline.
    RETURNS (Optional[FrozenSet[str]]): The labels; None if they cannot be known. Raises ValueError if there are none.
    """
    labels: List[str] = []
    for judge in _find_judges(nlp):
        own = getattr(judge, "labels", ())
        if _is_foreign(judge) and not own:
            return None
        labels.extend(own)
    if not labels:
        raise ValueError(
            f"No component of the pipeline ({', '.join(nlp.pipe_names) or 'empty'}) has labels for entities or scored "
            "spans, so it cannot judge annotation. Use one with a trained lex_ner, ner or spancat."
        )
    return frozenset(labels)


def last_lex_ner(nlp: Language) -> Optional[LexNER]:
    """RETURNS (Optional[LexNER]): The last `lex_ner` of a pipeline."""
    return next((pipe for _, pipe in reversed(nlp.pipeline) if isinstance(pipe, LexNER)), None)


def _find_judges(nlp: Language) -> List[Any]:
    """RETURNS (List[Any]): Whatever may set the spans that `score_texts` reads."""
    if (ner := last_lex_ner(nlp)) is not None:
        return [ner]
    scored = any(isinstance(pipe, SpanCategorizer) for _, pipe in nlp.pipeline)
    judges = []
    for name, pipe in nlp.pipeline:
        assigns = set(nlp.get_pipe_meta(name).assigns)
        if _is_foreign(pipe):
            sets = not assigns or bool(assigns & (ENTITIES | SPANS))
        elif scored:
            sets = isinstance(pipe, SpanCategorizer)
        else:
            sets = bool(assigns & ENTITIES) or getattr(pipe, "annotate_ents", False)  # a `span_ruler` need not
        if sets:
            judges.append(pipe)
    return judges or [nlp.tokenizer]  # one that wraps another library may set entities


def _is_foreign(part: Any) -> bool:
    """Whether a component or tokenizer is of neither spaCy nor this package. It may set more than it declares."""
    module = part.__module__ if isfunction(part) else type(part).__module__
    return module.split(".")[0] not in OWN
