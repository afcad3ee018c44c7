"""An account of the gold annotation that cannot be learned as it is."""

from collections import Counter
from dataclasses import dataclass, field
from typing import List, Mapping, Optional

from spacy.tokens import Doc

MAX_SHOWN = 5
CONTEXT = 10


@dataclass
class GoldReport:
    """Counts the gold entities or words of the training examples, and those that cannot be learned as they are.

    total (int): All of them.
    problems (Counter[str]): How many have which problem.
    shown (List[str]): The first few, with their context.
    """

    total: int = 0
    problems: "Counter[str]" = field(default_factory=Counter)
    shown: List[str] = field(default_factory=list)

    def add_problem(self, problem: str, doc: Doc, start: int, end: int, label: str = "") -> None:
        """Count a problem.

        problem (str): What is wrong.
        doc (Doc): The annotated Doc.
        start (int), end (int): The characters of the entity or word.
        label (str): Its label, if it has one.
        """
        self.problems[problem] += 1
        if len(self.shown) < MAX_SHOWN:
            text = doc.text
            shown = f"{text[start:end]!r} ({label})" if label else repr(text[start:end])
            self.shown.append(f"{shown} in {text[max(0, start - CONTEXT) : end + CONTEXT]!r}: {problem}")

    def message(self, kind: str, consequences: Mapping[str, str]) -> Optional[str]:
        """Put the problems into words.

        kind (str): What was counted, such as "entities".
        consequences (Mapping[str, str]): For each problem what becomes of such annotation.
        RETURNS (Optional[str]): The message; None if there are no problems.
        """
        if not self.problems:
            return None
        counts = ", ".join(f"{n} {problem} ({consequences[problem]})" for problem, n in self.problems.items())
        return f"of {self.total} gold {kind}: {counts}; for example {'; '.join(self.shown)}"
