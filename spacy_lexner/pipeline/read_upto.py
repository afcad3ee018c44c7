"""Making the Doc that a component in the middle of a pipeline receives."""

from typing import Any

from spacy.language import Language
from spacy.tokens import Doc


def read_upto(nlp: Language, pipe: Any, text: str) -> Doc:
    """RETURNS (Doc): The text after the tokenizer and all components before `pipe`, a component of the pipeline."""
    doc = nlp.make_doc(text)
    for _, each in nlp.pipeline:
        if each is pipe:
            break
        doc = each(doc)
    return doc
