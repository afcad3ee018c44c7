"""The places in a model where a `lex_matcher` leaves its lexicon."""

from contextlib import AbstractContextManager, nullcontext
from typing import List, Optional, Sequence

from spacy.tokens import Doc

from ..lexicon.matcher import Matcher
from ..lexicon.rules import RuleReader
from ..lexicon.shared_matcher import SharedMatcher
from .storage import get_candidates


class LexiconLink:
    """Holds the source that a model reads candidate words from. Never saved with the model (thinc leaves out attributes
    that it cannot serialise), and a copy of the model keeps the same source."""

    def __init__(self) -> None:
        self.source: Optional[SharedMatcher] = None

    def require(self) -> SharedMatcher:
        """RETURNS (SharedMatcher): The source. Raises ValueError where none is linked."""
        if self.source is None:
            raise ValueError(
                "The model reads candidate words, but no lexicon is linked to it. Add a `lex_matcher` to the pipeline, "
                'before the component that holds this model: nlp.add_pipe("lex_matcher", first=True), give it words, '
                "and call nlp.initialize() or load the pipeline again."
            )
        return self.source


class RulesLink(LexiconLink):
    """Holds the source of the rules that a component obeys; it may do without. It reads no vectors.

    reader (Optional[RuleReader]): Which rules concern the component; None as long as it has no labels.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reader: Optional[RuleReader] = None

    def pinned(self) -> AbstractContextManager[None]:
        """RETURNS (AbstractContextManager): Within it, all parts of a model see one state of the lexicon."""
        return nullcontext() if self.source is None else self.source.pinned()

    def matchers(self, docs: Sequence[Doc]) -> List[Optional[Matcher]]:
        """RETURNS (List[Optional[Matcher]]): For each Doc the state of the lexicon that holds for it."""
        return [None if self.source is None else matcher_of(self.source, doc) for doc in docs]


def matcher_of(source: SharedMatcher, doc: Doc) -> Optional[Matcher]:
    """RETURNS (Optional[Matcher]): The Matcher that a Doc was matched with, if the source remembers it, else the
    current one, if there is one."""
    stored = get_candidates(doc)
    known = None if stored is None else source.get(stored[0])
    return source.matcher if known is None else known
