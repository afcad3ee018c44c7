"""Checking entities given by offsets, and usually their mention, against the text, and repairing them on request."""

from functools import cached_property
from typing import Any, Iterable, List, Optional, Set

from ..lexicon.limits import QUOTED, quote, shorten
from .json_text import HALF, LONE_SURROGATE
from .offsets import CODE_POINTS, GRAPHEMES, UNITS, UTF_16, Offsets
from .record import Entity, FormatError, ReadOptions
from .report import Report

OTHERWISE = {CODE_POINTS: UTF_16, UTF_16: CODE_POINTS, GRAPHEMES: CODE_POINTS}


class Mentions:
    """Checks the entities of one text. Offsets count `unit` unless `options.offsets` says otherwise; `place` (file and
    line) and `hint` go into errors; `report` collects what was repaired."""

    def __init__(
        self,
        text: str,
        place: str,
        options: ReadOptions,
        report: Report,
        *,
        unit: str = CODE_POINTS,
        hint: str = "Ends are exclusive.",
    ) -> None:
        self.text, self.place, self.options, self.report = text, place, options, report
        self._unit = options.offsets if options.offsets in UNITS else unit
        self._offsets = Offsets(text, self._unit)
        self._hint = hint

    def check(
        self, start: Any, end: Any, label: Any, mention: Optional[str] = None, *, shown: str = ""
    ) -> Optional[Entity]:
        """Make an entity from `start` and `end` (exclusive) if the text there is the mention. If not, the offsets are
        tried in UTF-16 units or code points; with `repair` the entity is moved to the only occurrence of the mention.

        Returns None if the entity was left out, which is reported. Raises FormatError, with the place in the file and
        the offsets as they are `shown` there, if the entity is invalid.
        """
        if not (type(start) is int and type(end) is int):
            raise FormatError(
                f"{self.place}: {quote(start)}, {quote(end)} of {quote(mention or label)} must be two integers."
            )
        if not isinstance(label, str) or not label.strip():
            where = f"{self.place}: the entity at {quote(start)}, {quote(end)}"
            raise FormatError(f"{where} has the label {quote(label)}; expected a name.")
        if LONE_SURROGATE.search(label):
            raise FormatError(f"{self.place}: the label {quote(label)} {HALF}.")
        if not isinstance(mention, (str, type(None))):
            raise FormatError(f"{self.place}: {quote(mention)} at {start}, {end} must be the text of the entity.")
        mention = None if mention is None else LONE_SURROGATE.sub("\ufffd", mention)
        entity = self._find(self._offsets, start, end, label, mention)
        if entity is not None:
            return entity
        if mention is not None:
            entity = self._find(self._other_offsets, start, end, label, mention)
            if entity is not None:
                kind = f"entity with offsets that count {OTHERWISE[self._unit]}: read accordingly"
                self.report.add_problem(kind, self.place)
                return entity
        return self._repair(start, end, label, mention, shown or f"{start}, {end}")

    @cached_property
    def _other_offsets(self) -> Offsets:
        return Offsets(self.text, OTHERWISE[self._unit])

    def _find(self, offsets: Offsets, start: int, end: int, label: str, mention: Optional[str]) -> Optional[Entity]:
        begin, stop = offsets.decode(start), offsets.decode(end)
        if begin is None or stop is None or begin >= stop:
            return None
        same = mention is None or _bare(self.text[begin:stop]) == _bare(mention)
        return Entity(begin, stop, label) if same else None

    def find_text(self, start: int, end: int) -> str:
        """The text between two offsets; "" if they are not within it."""
        begin, stop = self._offsets.decode(start), self._offsets.decode(end)
        return "" if begin is None or stop is None else self.text[begin:stop]

    def _repair(self, start: int, end: int, label: str, mention: Optional[str], shown: str) -> Optional[Entity]:
        there = self.text[max(start, 0) : max(end, 0)]
        found = f"{self.place}: {label[:QUOTED]} {quote(mention)} is not at {shown[:QUOTED]}: there is {quote(there)}"
        if mention is None:
            where = f"{label[:QUOTED]} at {shown[:QUOTED]}"
            fault = f"is not within the text of {len(self.text)} characters"
            if 0 <= start == end <= len(self.text):
                fault = "is empty"
            elif self._unit == UTF_16 and 0 <= start < end <= len(self.text):
                fault = "begins or ends within a character"
            found = f"{self.place}: {where} {fault}"
        if not self.options.repair:
            raise FormatError(f"{found}. {self._hint} Offsets count {self._unit} (--offsets). Repair it (--repair).")
        if mention and self.text.count(mention) == 1:
            self.report.add_problem("entity with wrong offsets: moved to the only occurrence of its mention", found)
            begin = self.text.index(mention)
            return Entity(begin, begin + len(mention), label)
        self.report.add_problem("entity with wrong offsets: left out, its mention does not occur exactly once", found)
        return None

    def collect(self, found: Iterable[Optional[Entity]]) -> List[Entity]:
        """Sort entities and drop duplicates, which are reported."""
        entities: Set[Entity] = set()
        for entity in found:
            if entity in entities:
                mention = self.text[entity.start : entity.end]  # type: ignore[union-attr]
                problem = f"{self.place}: {shorten(entity.label)} {shorten(mention)}"  # type: ignore[union-attr]
                self.report.add_problem("entity given twice: kept once", problem)
            elif entity is not None:
                entities.add(entity)
        return sorted(entities)


def _bare(text: str) -> str:
    """Remove white space, which tools write differently inside mentions."""
    return "".join(text.split())
