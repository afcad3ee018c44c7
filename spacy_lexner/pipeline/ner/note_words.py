"""A pipeline that notes for a while what its entities rest on."""

from contextlib import contextmanager
from typing import Iterator, List

from spacy.language import Language

from .lex_ner import LexNER


@contextmanager
def note_words(nlp: Language) -> Iterator[None]:
    """Let every `lex_ner` of a pipeline note the candidate words that entities rest on, in `ent._.lex_words`.

    nlp (Language): The pipeline.
    YIELDS (None): While they do.
    """
    pipes: List[LexNER] = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, LexNER)]
    before = [pipe.note_words for pipe in pipes]
    for pipe in pipes:
        pipe.note_words = True
    try:
        yield
    finally:
        for pipe, setting in zip(pipes, before):
            pipe.note_words = setting
