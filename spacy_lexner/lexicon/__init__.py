"""Lexicons of words with vectors, and how they are found in texts."""

from .entry import LexiconEntry
from .errors import LexiconError
from .hashing import hash_word
from .lexicon import Lexicon
from .matcher import Matcher, MatchOptions
from .normalization import Normalization
from .report import BuildReport
from .source import LexiconSource

__all__ = [
    "BuildReport",
    "Lexicon",
    "LexiconEntry",
    "LexiconError",
    "LexiconSource",
    "MatchOptions",
    "Matcher",
    "Normalization",
    "hash_word",
]
