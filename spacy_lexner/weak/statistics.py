"""Statistics of a dictionary on texts: its coverage, and the doubtful words whose correction would help most."""

from collections import Counter
from typing import Any, Dict, Iterable, List, Tuple

from spacy.tokens import Doc

from ..lexicon.entry import Labels
from .label import KNOWN, REASONS, UNKNOWN, Occurrence


class Statistics:
    """Counts of the occurrences of a dictionary's words."""

    def __init__(self) -> None:
        self.n_texts = 0
        self.n_characters = 0
        self.n_inside = 0  # characters of known and doubtful words
        self.known: Counter[Tuple[str, str]] = Counter()  # by label and word
        self.doubtful: Counter[Tuple[str, str, Labels]] = Counter()  # by word, reason and labels
        self.n_unknown = 0
        self.n_inside_tokens = 0  # known words, among the texts to learn from, that begin or end inside a token

    def add(self, text: str, occurrences: Iterable[Occurrence]) -> None:
        """Count the occurrences in a text."""
        self.n_texts += 1
        self.n_characters += len(text)
        for each in occurrences:
            if each.kind == UNKNOWN:
                self.n_unknown += 1
                continue
            self.n_inside += each.end - each.start
            if each.kind == KNOWN:
                self.known[each.labels[0], each.word] += 1
            else:
                self.doubtful[each.word, each.kind, each.labels] += 1

    def add_doc(self, doc: Doc, occurrences: Iterable[Occurrence]) -> None:
        """Count the known words that the tokens of a Doc cannot express."""
        places = [(each.start, each.end) for each in occurrences if each.kind == KNOWN]
        self.n_inside_tokens += sum(doc.char_span(*place) is None for place in places)

    @property
    def share(self) -> float:
        """RETURNS (float): The share of characters in dictionary words."""
        return self.n_inside / max(1, self.n_characters)

    def to_json(self, n_words: int = 100) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): All figures, ready for JSON, with the `n_words` most frequent doubtful words."""
        labels: Dict[str, Dict[str, int]] = {}
        for (label, _), count in self.known.items():
            own = labels.setdefault(label, {"known": 0, "words": 0})
            own["known"] += count
            own["words"] += 1
        reasons = Counter(dict.fromkeys(REASONS, 0))
        for (_, reason, _), count in self.doubtful.items():
            reasons[reason] += count
        return {
            "texts": self.n_texts,
            "characters": self.n_characters,
            "share": self.share,
            "known": sum(self.known.values()),
            "unknown": self.n_unknown,
            "inside_tokens": self.n_inside_tokens,
            "labels": dict(sorted(labels.items())),
            "doubtful": dict(reasons),
            "doubtful_words": self.most_doubtful(n_words),
        }

    def most_doubtful(self, n: int) -> List[Dict[str, Any]]:
        """RETURNS (List[Dict[str, Any]]): The doubtful words, the most frequent first, since deciding on those helps
        most."""
        rows = sorted(self.doubtful.items(), key=lambda item: (-item[1], item[0]))[:n]
        return [{"word": w, "reason": why, "labels": list(labels), "count": n} for (w, why, labels), n in rows]
