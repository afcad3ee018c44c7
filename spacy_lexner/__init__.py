"""Lexicon-enhanced named entity recognition for Chinese, as a spaCy plugin."""

from .about import __version__

__all__ = ["__version__"]
