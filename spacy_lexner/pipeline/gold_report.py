"""A report of gold annotation that cannot be learned as it is."""

from collections import Counter
from dataclasses import dataclass, field
from typing import List, Mapping, Optional

from spacy.tokens import Doc

MAX_SHOWN = 5
CONTEXT = 10


@dataclass
class GoldReport:
    """Counts the gold entities or words of the training examples, and those that cannot be learned as they are."""

    total: int = 0  # number of entities or words
    problems: "Counter[str]" = field(default_factory=Counter)  # number of them by problem
    shown: List[str] = field(default_factory=list)  # the first MAX_SHOWN problems, with their context

    def add_problem(self, problem: str, doc: Doc, start: int, end: int, label: str = "") -> None:
        """Count a problem with the entity or word at characters `start` to `end` (exclusive) of an annotated Doc."""
        self.problems[problem] += 1
        if len(self.shown) < MAX_SHOWN:
            text = doc.text
            shown = f"{text[start:end]!r} ({label})" if label else repr(text[start:end])
            self.shown.append(f"{shown} in {text[max(0, start - CONTEXT) : end + CONTEXT]!r}: {problem}")

    def message(self, kind: str, consequences: Mapping[str, str]) -> Optional[str]:
        """Describe the problems; None if there are none. `kind` is what was counted, such as "entities"; `consequences`
        says for each problem what happens to such annotation."""
        if not self.problems:
            return None
        counts = ", ".join(f"{n} {problem} ({consequences[problem]})" for problem, n in self.problems.items())
        return f"of {self.total} gold {kind}: {counts}; for example {'; '.join(self.shown)}"
