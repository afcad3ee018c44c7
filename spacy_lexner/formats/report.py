"""What was read, and every problem with it: counted, with places."""

from collections import Counter
from typing import Dict, List

N_PLACES = 5


class Report:
    """Counts of what was read. Nothing is left out or repaired without a line here."""

    def __init__(self) -> None:
        self.n_texts = 0
        self.n_characters = 0
        self.n_words = 0  # in texts annotated with words
        self.labels: Counter[str] = Counter()  # entities of each label in Docs
        self.problems: Counter[str] = Counter()  # by kind
        self.places: Dict[str, List[str]] = {}  # the first places of each kind

    @property
    def n_entities(self) -> int:
        return sum(self.labels.values())

    def add_problem(self, kind: str, place: str) -> None:
        """Count a problem: `kind` says what was wrong and what was done about it, `place` gives file, line and text."""
        self.problems[kind] += 1
        places = self.places.setdefault(kind, [])
        if len(places) < N_PLACES:
            places.append(place)

    def describe(self) -> List[str]:
        """One line for each kind of problem, with its count and first places."""
        lines = []
        for kind, count in self.problems.most_common():
            more = ", …" if count > len(self.places[kind]) else ""
            lines.append(f"{kind}: {count} ({'; '.join(self.places[kind])}{more})")
        return lines
