"""The attributes that our pipes add to Docs, Spans and Tokens. They are installed by the pipes, never at import."""

from typing import List, Optional

from spacy.tokens import Doc, Span, Token

from ..candidates.storage import LexMatch, LexMatches, get_candidates
from .ner.alternatives import get_alternatives
from .rule_conflicts import get_conflicts


def install_match_extensions() -> None:
    """Add `doc._.lex_matches`, `doc._.lex_version` and `token._.lex_words`. What someone else put there under these
    names stays."""
    if not Doc.has_extension("lex_matches"):
        Doc.set_extension("lex_matches", getter=get_lex_matches)
    if not Doc.has_extension("lex_version"):
        Doc.set_extension("lex_version", getter=get_lex_version)
    if not Token.has_extension("lex_words"):
        Token.set_extension("lex_words", getter=get_lex_words)


def install_score_extension() -> None:
    """Add `span._.lex_score`, the probability of an entity. What someone else put there under this name stays."""
    if not Span.has_extension("lex_score"):
        Span.set_extension("lex_score", default=None)


def install_segmentation_extension() -> None:
    """Add `doc._.lex_segmentation`, the account of a segmentation. What someone else put there stays."""
    if not Doc.has_extension("lex_segmentation"):
        Doc.set_extension("lex_segmentation", default=None)


def install_alternatives_extension() -> None:
    """Add `doc._.lex_alternatives`, the most probable readings of a Doc. What someone else put there stays."""
    if not Doc.has_extension("lex_alternatives"):
        Doc.set_extension("lex_alternatives", getter=get_alternatives)


def install_conflicts_extension() -> None:
    """Add `doc._.lex_conflicts`, the rules of words that were not followed. What someone else put there stays."""
    if not Doc.has_extension("lex_conflicts"):
        Doc.set_extension("lex_conflicts", getter=get_conflicts)


def get_lex_matches(doc: Doc) -> Optional[LexMatches]:
    """RETURNS (Optional[LexMatches]): The candidate words of a Doc; None if no matcher has run on it."""
    stored = get_candidates(doc)
    return None if stored is None else LexMatches(doc.text, stored[1])


def get_lex_version(doc: Doc) -> Optional[int]:
    """RETURNS (Optional[int]): The state of the lexicon and its rules that a Doc was annotated with (`version` of the
    `lex_matcher` then); None if no matcher has run on it."""
    stored = get_candidates(doc)
    return None if stored is None else stored[0]


def get_lex_words(token: Token) -> Optional[List[LexMatch]]:
    """RETURNS (Optional[List[LexMatch]]): The candidate words that cover a token; None if no matcher has run."""
    stored = get_candidates(token.doc)
    if stored is None:
        return None
    candidates = stored[1]
    begin, stop = token.idx, token.idx + len(token)
    covering = (candidates.starts < stop) & (candidates.ends > begin)
    matches = LexMatches(token.doc.text, candidates)
    return [matches[i] for i in covering.nonzero()[0].tolist()]
