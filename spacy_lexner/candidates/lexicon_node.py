"""The node of a model that reads the lexicon, Docs in and candidate words out, and the link by which a `lex_matcher`
hands it over."""

from contextlib import AbstractContextManager, nullcontext
from typing import Callable, List, Optional, Sequence, Tuple

from spacy.tokens import Doc
from thinc.api import Model

from ..lexicon.matcher import Matcher
from ..lexicon.rules import RuleReader
from ..lexicon.shared_matcher import SharedMatcher
from .batch_words import DocWords
from .storage import find_candidates, get_candidates

NODE_NAME = "lexicon"


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


def LexiconCandidates() -> Model[List[Doc], List[DocWords]]:
    """Give the candidate words of each Doc, and the lexicon that they come from.

    What a `lex_matcher` stored in the Doc is used if the linked source still knows the lexicon it came from; any other
    Doc is matched here, with the linked lexicon, so that training, pretraining and prediction see the same words.

    RETURNS (Model[List[Doc], List[Tuple[Candidates, Lexicon]]]): The layer.
    """
    return Model(NODE_NAME, forward, attrs={"link": LexiconLink()})


def find_lexicon(model: Model) -> Optional[Model]:
    """RETURNS (Optional[Model]): The node of a model that reads the lexicon; None if it has none."""
    return next((node for node in model.walk() if node.name == NODE_NAME), None)


def linked_matcher(node: Model) -> Matcher:
    """RETURNS (Matcher): The Matcher of the linked lexicon. Raises ValueError where there is none."""
    matcher = node.attrs["link"].require().matcher
    if matcher is None:
        raise ValueError(
            "The `lex_matcher` that is linked to the model has no lexicon. Give it one: "
            "`[initialize.components.lex_matcher.lexicon]` in the config, lex_matcher.add_words([...]) or "
            "lex_matcher.set_lexicon(Lexicon.open(path))."
        )
    return matcher


def forward(model: Model, docs: List[Doc], is_train: bool) -> Tuple[List[DocWords], Callable]:
    current, source = linked_matcher(model), model.attrs["link"].require()
    stored = [get_candidates(doc) for doc in docs]
    matchers = [None if one is None else source.get(one[0]) for one in stored]
    unmatched = [doc for doc, matcher in zip(docs, matchers) if matcher is None]
    matched_now = iter(find_candidates(current, unmatched) if unmatched else [])
    found = [
        (next(matched_now), current.lexicon) if one is None or matcher is None else (one[1], matcher.lexicon)
        for one, matcher in zip(stored, matchers)
    ]
    return found, lambda gradient: []
