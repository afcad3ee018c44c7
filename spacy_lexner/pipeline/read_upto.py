"""A text as a component of a pipeline gets it."""

from typing import Any

from spacy.language import Language
from spacy.tokens import Doc


def read_upto(nlp: Language, pipe: Any, text: str) -> Doc:
    """RETURNS (Doc): A text after the tokenizer and all components before `pipe`, one of the pipeline's."""
    doc = nlp.make_doc(text)
    for _, each in nlp.pipeline:
        if each is pipe:
            break
        doc = each(doc)
    return doc
