"""The scorer of `lex_ner`: entities by units, whatever the tokens of a Doc are."""

from typing import Any, Callable, Dict, Iterable

from spacy.scorer import get_ner_prf
from spacy.tokens import Doc
from spacy.training import Example

from ...candidates.unit_docs import carry_entities, has_units, make_unit_docs, split_doc
from ..exact_offsets import get_offsets


def create_lex_ner_scorer() -> Callable[..., Dict[str, Any]]:
    """RETURNS (Callable): The function `score_by_units`."""
    return score_by_units


def score_by_units(examples: Iterable[Example], **kwargs: Any) -> Dict[str, Any]:
    """Compute spaCy's entity scores on units: in languages written without spaces on the exact characters of entities,
    whatever the tokens are. Docs without annotation, and predictions where annotation is missing, do not count."""
    return get_ner_prf([unit_example(example) for example in examples], **kwargs)


def unit_example(example: Example) -> Example:
    """Put both Docs of an example on units; the entities of the predicted Doc keep their exact characters."""
    predicted, reference = example.predicted, example.reference
    if has_units(predicted) and has_units(reference):
        return example
    return Example(on_exact_units(predicted), make_unit_docs([reference])[0])


def on_exact_units(doc: Doc) -> Doc:
    """The unit Doc of a Doc, with entities by their exact characters."""
    return doc if has_units(doc) else carry_entities(doc, split_doc(doc), [get_offsets(ent) for ent in doc.ents])
