"""Adding extension attributes to Docs, Spans and Tokens: when a component is created, never at import."""

from typing import Any, Type, Union

from spacy.tokens import Doc, Span, Token

from .codecs import find_codecs_once


def add_extension(owner: Type[Union[Doc, Span, Token]], name: str, **options: Any) -> None:
    """As `owner.set_extension`, but an existing attribute, which may be someone else's, stays.

    Attributes are user data, which `nlp.pipe(n_process=2)` packs for each Doc: codecs are found before it forks.
    """
    find_codecs_once()
    if not owner.has_extension(name):
        owner.set_extension(name, **options)


def add_score_extension() -> None:
    """Add `span._.lex_score`, the confidence of an entity."""
    add_extension(Span, "lex_score", default=None)
