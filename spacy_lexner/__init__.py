"""Lexicon-enhanced named entity recognition for Chinese, as a spaCy plugin."""

from typing import TYPE_CHECKING, Any

from .about import __version__

if TYPE_CHECKING:
    from .integrity.pipelines import save
    from .scale.pipe import pipe

__all__ = ["__version__", "pipe", "save"]


def __getattr__(name: str) -> Any:
    """Import lazily whatever needs spaCy, since spaCy itself imports this package at every `spacy.blank()`."""
    if name == "save":
        from .integrity.pipelines import save

        return save
    if name == "pipe":
        from .scale.pipe import pipe

        return pipe
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
