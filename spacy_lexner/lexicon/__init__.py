"""Lexicons: words with vectors, labels and rules, and how they are found in texts."""

from .build import BuildReport
from .entry import LexiconEntry, hash_word
from .errors import LexiconError
from .lexicon import Lexicon
from .matcher import Matcher, MatchOptions
from .normalization import Normalization
from .shared_matcher import SharedMatcher

__all__ = [
    "BuildReport",
    "Lexicon",
    "LexiconEntry",
    "LexiconError",
    "MatchOptions",
    "Matcher",
    "Normalization",
    "SharedMatcher",
    "hash_word",
]
