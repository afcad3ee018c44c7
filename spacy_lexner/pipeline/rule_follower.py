"""How a trainable pipe follows the rules of words: which apply to a Doc, and which could not be followed."""

import logging
from typing import Any, List, Optional, Sequence, Set, Tuple

from spacy.tokens import Doc
from thinc.api import Model

from ..candidates.lexicon_node import RulesLink
from ..candidates.storage import renew_candidates
from ..candidates.user_data import reading
from ..lexicon.matcher import Matcher
from ..tagging.spans.word_rules import RuleConflict, RuleMatch, find_rule_matches
from .extensions import add_extension

logger = logging.getLogger(__name__)
USER_DATA_KEY: Any = ("._.", "lex_conflicts", None, None)
MAX_WARNINGS = 20


class RuleFollower:
    """Finds the words with rules in Docs, and reports the rules that were not followed. The lexicon is the one that a
    `lex_matcher` linked to the component's model, in its `attrs["link"]`."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._warned: Set[Tuple[str, str]] = set()  # words and reasons
        model.attrs.setdefault("link", RulesLink())
        add_extension(Doc, "lex_conflicts", getter=get_conflicts)

    @property
    def link(self) -> RulesLink:
        """The link to the lexicon. Its `reader` says which rules apply to the component; None until it has labels."""
        return self._model.attrs["link"]

    def find(self, docs: Sequence[Doc]) -> List[Tuple[Sequence[RuleMatch], Optional[Matcher]]]:
        """For each Doc the words whose rules apply to the component, and the state of the lexicon used; None if no
        lexicon is linked."""
        link = self.link
        matchers = link.matchers(docs)
        if link.reader is None:
            return [((), matcher) for matcher in matchers]
        return list(zip(find_rule_matches(docs, matchers, link.reader), matchers))

    def report(
        self, doc: Doc, component: str, matcher: Optional[Matcher], conflicts: Sequence[RuleConflict] = ()
    ) -> None:
        """Record in a Doc which rules were not followed, and warn of them, once per word and reason and at most
        MAX_WARNINGS times. If the candidate words are from another state of the lexicon than `matcher`, the Doc is
        matched again."""
        if matcher is not None:
            renew_candidates(doc, matcher)
        add_extension(Doc, "lex_conflicts", getter=get_conflicts)  # an unpickled component was not created here
        set_conflicts(doc, component, conflicts)
        for conflict in conflicts:
            case = (conflict.word, conflict.reason)
            if case not in self._warned and len(self._warned) < MAX_WARNINGS:
                self._warned.add(case)
                last = " There will be no further warnings." if len(self._warned) == MAX_WARNINGS else ""
                logger.warning(
                    "%s: the rule %s. This warning is shown once per word; doc._.lex_conflicts has all conflicts.%s",
                    *(component, conflict, last),
                )


@reading("doc._.lex_conflicts")
def get_conflicts(doc: Doc) -> List[RuleConflict]:
    """The rules that were not followed in a Doc."""
    return [RuleConflict(*row) for row in doc.user_data.get(USER_DATA_KEY, ())]


def set_conflicts(doc: Doc, component: str, conflicts: Sequence[RuleConflict]) -> None:
    """Store the rules that a component did not follow, replacing those stored for it before."""
    try:
        others = [conflict for conflict in get_conflicts(doc) if conflict.component != component]
    except ValueError:
        others = []
    if others or conflicts:
        doc.user_data[USER_DATA_KEY] = [list(conflict) for conflict in (*others, *conflicts)]
    else:
        doc.user_data.pop(USER_DATA_KEY, None)
