"""Scores of entities."""

from typing import Any, Callable, Dict, Iterable

from spacy.scorer import get_ner_prf
from spacy.training import Example


def lex_ner_score(examples: Iterable[Example], **kwargs: Any) -> Dict[str, Any]:
    """Precision, recall and F-score of entities, in all and by label. Docs without annotation, and predictions on
    tokens whose annotation is missing, do not count.

    examples (Iterable[Example]): Predicted and annotated Docs.
    RETURNS (Dict[str, Any]): `ents_p`, `ents_r`, `ents_f`, `ents_per_type`.
    """
    return get_ner_prf(examples, **kwargs)


def create_lex_ner_scorer() -> Callable[..., Dict[str, Any]]:
    """RETURNS (Callable): The function `lex_ner_score`."""
    return lex_ner_score
