"""The part of a trainable pipe that has to do with the rules of words: it says which ones concern it, and tells what
became of them."""

import logging
from typing import Any, List, Optional, Sequence, Tuple

from spacy.tokens import Doc

from ..candidates.lexicon_node import RulesLink
from ..candidates.storage import renew_candidates
from ..lexicon.matcher import Matcher
from ..lexicon.rules import RuleReader
from ..tagging.spans.word_rules import RuleConflict, RuleMatch, find_rule_matches
from .extensions import install_conflicts_extension
from .rule_conflicts import ConflictLog, set_conflicts

logger = logging.getLogger(__name__)


class RuleFollower:
    """Follows the rules of words. A subclass sets `name` and `model`, says which rules concern it (`rule_reader`), and
    calls `tell_labels` when it is made and when that changes."""

    name: str
    model: Any
    _conflict_log: Optional[ConflictLog] = None

    @property
    def rules_link(self) -> RulesLink:
        """RETURNS (RulesLink): Where a `lex_matcher` leaves the rules of words. It looks for it in the model."""
        return self.model.attrs["link"]

    @property
    def rule_reader(self) -> Optional[RuleReader]:
        """RETURNS (Optional[RuleReader]): Which rules concern the component; None as long as it has no labels."""
        return None

    def tell_labels(self) -> None:
        """Tell those who own rules which ones concern the component."""
        self.model.attrs.setdefault("link", RulesLink()).reader = self.rule_reader

    def find_rules(self, docs: Sequence[Doc]) -> List[Tuple[Sequence[RuleMatch], Optional[Matcher]]]:
        """Find the words of Docs whose rules concern the component.

        docs (Sequence[Doc]): The Docs.
        RETURNS (List[Tuple[Sequence[RuleMatch], Optional[Matcher]]]): The words of each, and the state of the lexicon
            that holds for it, if one is linked.
        """
        link = self.rules_link
        matchers = link.matchers(docs)
        if link.reader is None:
            return [((), matcher) for matcher in matchers]
        return list(zip(find_rule_matches(docs, matchers, link.reader), matchers))

    def note_state(self, doc: Doc, matcher: Optional[Matcher], conflicts: Sequence[RuleConflict]) -> None:
        """Write to a Doc which state of the lexicon it was annotated with, and which rules were not followed.

        doc (Doc): The Doc.
        matcher (Optional[Matcher]): The state. If it is another one than that which found the candidate words of the
            Doc, because that one was forgotten meanwhile, these are found anew.
        conflicts (Sequence[RuleConflict]): The rules.
        """
        if matcher is not None:
            renew_candidates(doc, matcher)
        install_conflicts_extension()
        set_conflicts(doc, self.name, conflicts)
        if self._conflict_log is None:
            self._conflict_log = ConflictLog(logger)
        self._conflict_log.tell(conflicts)
