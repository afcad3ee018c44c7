"""Adding extension attributes to Docs, Spans and Tokens: when a component is created, never at import."""

from typing import Any, Type, Union

from spacy.tokens import Doc, Span, Token


def add_extension(owner: Type[Union[Doc, Span, Token]], name: str, **options: Any) -> None:
    """As `owner.set_extension`, but an existing attribute, which may be someone else's, stays."""
    if not owner.has_extension(name):
        owner.set_extension(name, **options)


def add_score_extension() -> None:
    """Add `span._.lex_score`, the confidence of an entity."""
    add_extension(Span, "lex_score", default=None)
