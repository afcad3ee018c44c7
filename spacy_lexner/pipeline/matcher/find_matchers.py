"""The lexicons of a pipeline."""

from typing import Dict, Optional

from spacy.language import Language

from ...lexicon.lexicon import Lexicon
from .lex_matcher import LexMatcher


def find_matchers(nlp: Language) -> Dict[str, LexMatcher]:
    """RETURNS (Dict[str, LexMatcher]): The pipes that find candidate words, by name; disabled ones not."""
    return {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, LexMatcher)}


def find_lexicon(nlp: Language) -> Optional[Lexicon]:
    """RETURNS (Optional[Lexicon]): The lexicon whose words Docs end up with; None if there is none."""
    matchers = [pipe.source.matcher for pipe in find_matchers(nlp).values() if pipe.source.matcher is not None]
    return matchers[-1].lexicon if matchers else None


def check_all_rules(nlp: Language) -> None:
    """Check the rules of all lexicons, as far as everyone has labels who is to follow them. Raises LexiconError for one
    that contradicts another one of its word, or concerns nobody.

    nlp (Language): The pipeline.
    """
    for pipe in find_matchers(nlp).values():
        pipe.check_rules()
