"""What was left out when a lexicon was built, and why."""

from typing import Any, Dict, List

REASONS = {
    "empty": "empty word",
    "nul": "NUL character in the word",
    "white_space": "white space in the word",
    "not_unicode": "lone surrogate in the word",
    "too_long": "word too long",
    "bad_vector": "vector of another size, or not finite",
    "bad_weight": "weight that is not a finite number",
    "duplicate": "duplicate of an earlier word",
}
MAX_LINES = 10


class BuildReport:
    """Counts of the entries that were skipped while a lexicon was built.

    source (str): What was read.
    n_read (int): Number of entries read.
    skipped (Dict[str, int]): How many were skipped, by reason (a key of REASONS).
    lines (Dict[str, List[int]]): The first line numbers of these, by reason; 1 is the first line or entry.
    """

    def __init__(self, source: str = "entries", n_read: int = 0) -> None:
        self.source = source
        self.n_read = n_read
        self.skipped: Dict[str, int] = {}
        self.lines: Dict[str, List[int]] = {}

    @property
    def n_skipped(self) -> int:
        """RETURNS (int): The number of entries skipped."""
        return sum(self.skipped.values())

    def skip(self, reason: str, line: int) -> None:
        """Count an entry that is skipped.

        reason (str): A key of REASONS.
        line (int): Where it stands.
        """
        self.skipped[reason] = self.skipped.get(reason, 0) + 1
        lines = self.lines.setdefault(reason, [])
        if len(lines) < MAX_LINES:
            lines.append(line)

    def to_json(self) -> Dict[str, Any]:
        return {"source": self.source, "n_read": self.n_read, "skipped": self.skipped, "lines": self.lines}

    @classmethod
    def from_json(cls, state: Dict[str, Any]) -> "BuildReport":
        report = cls(str(state["source"]), int(state["n_read"]))
        report.skipped = dict(state["skipped"])
        report.lines = dict(state["lines"])
        return report

    def __str__(self) -> str:
        parts = [f"{self.source}: {self.n_read} entries read, {self.n_skipped} skipped"]
        for reason, count in self.skipped.items():
            lines = ", ".join(map(str, self.lines[reason]))
            more = ", ..." if count > len(self.lines[reason]) else ""
            parts.append(f"{REASONS[reason]}: {count} (line {lines}{more})")
        return "; ".join(parts)
