"""The account of rules that were not followed: in the Doc, and as warnings."""

import logging
from typing import Any, List, Sequence, Set, Tuple

from spacy.tokens import Doc

from ..tagging.spans.word_rules import RuleConflict

USER_DATA_KEY: Any = ("._.", "lex_conflicts", None, None)
MAX_TOLD = 20


def get_conflicts(doc: Doc) -> List[RuleConflict]:
    """RETURNS (List[RuleConflict]): The rules that were not followed in a Doc."""
    return [RuleConflict(*row) for row in doc.user_data.get(USER_DATA_KEY, ())]


def set_conflicts(doc: Doc, component: str, conflicts: Sequence[RuleConflict]) -> None:
    """Store which rules a component did not follow, in the place of what it stored before.

    doc (Doc): The Doc.
    component (str): The component.
    conflicts (Sequence[RuleConflict]): Its conflicts.
    """
    others = [conflict for conflict in get_conflicts(doc) if conflict.component != component]
    if others or conflicts:
        doc.user_data[USER_DATA_KEY] = [list(conflict) for conflict in (*others, *conflicts)]
    else:
        doc.user_data.pop(USER_DATA_KEY, None)


class ConflictLog:
    """Warns of rules that were not followed: once of each word and reason, and of no more than MAX_TOLD words, since a
    stream may hold millions.

    logger (logging.Logger): Where the warnings go.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._told: Set[Tuple[str, str]] = set()

    def tell(self, conflicts: Sequence[RuleConflict]) -> None:
        """Warn of conflicts, unless that was done.

        conflicts (Sequence[RuleConflict]): The conflicts of a Doc.
        """
        for conflict in conflicts:
            case = (conflict.word, conflict.reason)
            if case not in self._told and len(self._told) < MAX_TOLD:
                self._told.add(case)
                last = " Further ones are told only there." if len(self._told) == MAX_TOLD else ""
                self._logger.warning(
                    "%s: the rule %s. This is told once for each word; doc._.lex_conflicts tells all.%s",
                    *(conflict.component, conflict, last),
                )
