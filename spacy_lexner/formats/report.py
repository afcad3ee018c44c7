"""The report of a conversion: counts of what was read, and every problem with its places."""

import re
from collections import Counter
from typing import Dict, List

N_PLACES = 5
MAX_INSIDE = 0.8  # no entity corpus has a larger share of its characters in entities
PART_OF_SPEECH = re.compile(  # those of Universal Dependencies, of jieba and PKU, and of the Chinese Treebank
    r"ADJ|ADP|ADV|AUX|CONJ|CCONJ|DET|INTJ|NOUN|NUM|PART|PRON|PROPN|PUNCT|SCONJ|SYM|VERB|X|EOL|SPACE|[a-z]{1,3}"
    r"|AD|AS|BA|CC|CD|CS|DE[CGRV]|DT|ETC|FW|IJ|JJ|LB|LC|M|MSP|NN|NR|NT|OD|ON|P|PN|PU|SB|SP|V[ACEV]"
)


class Report:
    """Counts of what was read. Nothing is left out or repaired without a line here."""

    def __init__(self) -> None:
        self.n_texts = 0
        self.n_characters = 0
        self.n_words = 0  # in texts annotated with words
        self.labels: Counter[str] = Counter()  # number of entities by label
        self.n_inside = 0  # characters in entities
        self.problems: Counter[str] = Counter()  # number of problems by kind
        self.places: Dict[str, List[str]] = {}  # the first N_PLACES places of each kind

    @property
    def n_entities(self) -> int:
        return sum(self.labels.values())

    def add_problem(self, kind: str, place: str) -> None:
        """Count a problem: `kind` says what was wrong and how it was handled, `place` gives file, line and text."""
        self.problems[kind] += 1
        places = self.places.setdefault(kind, [])
        if len(places) < N_PLACES:
            places.append(place)

    def describe(self) -> List[str]:
        """One line for each kind of problem, with its count and first places."""
        lines = []
        if (
            self.labels
            and self.n_inside > MAX_INSIDE * self.n_characters
            and all(map(PART_OF_SPEECH.fullmatch, self.labels))
        ):
            lines.append(
                f"{self.n_inside / self.n_characters:.0%} of the characters are in entities, and the labels look like "
                "parts of speech. If the tags mark words, use --format word-tags"
            )
        for kind, count in self.problems.most_common():
            more = ", …" if count > len(self.places[kind]) else ""
            lines.append(f"{kind}: {count} ({'; '.join(self.places[kind])}{more})")
        return lines
