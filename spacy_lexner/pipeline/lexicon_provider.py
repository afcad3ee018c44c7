"""The lexicons of a pipeline, and who provides them."""

from typing import Any, Dict, Optional, Protocol, runtime_checkable

from spacy.language import Language

from ..lexicon.lexicon import Lexicon
from ..lexicon.shared_matcher import SharedMatcher


@runtime_checkable
class LexiconProvider(Protocol):
    """What others need to know of a `lex_matcher`."""

    source: SharedMatcher  # holds its lexicon

    def set_lexicon(self, lexicon: Lexicon) -> None:
        """Replace the lexicon."""

    def check_rules(self) -> None:
        """Raise LexiconError for a rule that contradicts another of its word, or that concerns no component."""


def find_matchers(nlp: Language) -> Dict[str, LexiconProvider]:
    """The enabled components that find candidate words, by name."""
    pipes: Dict[str, Any] = dict(nlp.pipeline)
    return {name: pipe for name, pipe in pipes.items() if isinstance(pipe, LexiconProvider)}


def find_lexicon(nlp: Language) -> Optional[Lexicon]:
    """The lexicon of the last matcher that has one; its words are those in the Docs."""
    matchers = [pipe.source.matcher for pipe in find_matchers(nlp).values()]
    return next((matcher.lexicon for matcher in reversed(matchers) if matcher is not None), None)
