"""What was left out when a lexicon was built, and why."""

from typing import Any, Dict, List

REASONS = {
    "empty": "empty word",
    "nul": "NUL character in the word",
    "white_space": "white space in the word",
    "not_unicode": "lone surrogate in the word",
    "too_long": "word longer than max_word_length",
    "bad_vector": "vector of another size than the first, or not finite",
    "bad_weight": "weight that is not a finite number",
    "bad_rule": "rule that makes no sense",
    "duplicate": "duplicate of an earlier word",
}
MAX_PLACES = 10


class BuildReport:
    """Counts of the entries that were skipped while a lexicon was built.

    source (str): What was read.
    n_read (int): Number of entries read.
    skipped (Dict[str, int]): How many were skipped, by reason (a key of REASONS).
    places (Dict[str, List[str]]): Where the first ten of these stand, by reason, as "file:line".
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.n_read = 0
        self.skipped: Dict[str, int] = {}
        self.places: Dict[str, List[str]] = {}

    @property
    def n_skipped(self) -> int:
        """RETURNS (int): The number of entries skipped."""
        return sum(self.skipped.values())

    def skip(self, reason: str, place: str) -> None:
        """Count an entry that is skipped.

        reason (str): A key of REASONS.
        place (str): Where it stands, as "file:line".
        """
        self.skipped[reason] = self.skipped.get(reason, 0) + 1
        places = self.places.setdefault(reason, [])
        if len(places) < MAX_PLACES:
            places.append(place)

    def to_json(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The report, for the manifest."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, state: Dict[str, Any]) -> "BuildReport":
        """RETURNS (BuildReport): The report from `to_json`."""
        report = cls(str(state["source"]))
        report.n_read = int(state["n_read"])
        report.skipped = {str(reason): int(count) for reason, count in state["skipped"].items()}
        report.places = {str(reason): list(places) for reason, places in state["places"].items()}
        return report

    def __str__(self) -> str:
        lines = [f"{self.source}: {self.n_read} entries read, {self.n_skipped} skipped"]
        for reason, count in self.skipped.items():
            more = ", ..." if count > len(self.places[reason]) else ""
            lines.append(f"  {count} x {REASONS.get(reason, reason)}: {', '.join(self.places[reason])}{more}")
        return "\n".join(lines)
