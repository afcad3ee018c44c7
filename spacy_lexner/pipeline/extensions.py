"""How our components add attributes to Docs, Spans and Tokens: when they are made, never at import."""

from typing import Any, Type, Union

from spacy.tokens import Doc, Span, Token


def add_extension(owner: Type[Union[Doc, Span, Token]], name: str, **options: Any) -> None:
    """Add a custom attribute, unless there is one of this name: what someone else put there stays.

    owner (Type[Union[Doc, Span, Token]]): The class that gets it.
    name (str): The name, used as `doc._.name`.
    options (Any): As for `Doc.set_extension`: `default` or `getter`.
    """
    if not owner.has_extension(name):
        owner.set_extension(name, **options)


def add_score_extension() -> None:
    """Add `span._.lex_score`, the confidence of an entity."""
    add_extension(Span, "lex_score", default=None)
