"""Entities of a file that gives places and, mostly, what stands there: checked against the text, mended if wanted."""

from typing import Any, Iterable, List, Optional, Set

from .json_text import LONE_SURROGATE
from .offsets import CODE_POINTS, GRAPHEMES, UNITS, UTF_16, Offsets
from .record import Entity, FormatError, ReadOptions
from .report import Report

OTHERWISE = {CODE_POINTS: UTF_16, UTF_16: CODE_POINTS, GRAPHEMES: CODE_POINTS}


class Mentions:
    """Checks the entities of one text.

    text (str): The text.
    place (str): The file and the line, for errors.
    options (ReadOptions): How the file is read.
    report (Report): Gets what was mended.
    unit (str): What places are counted in, where the options do not say.
    hint (str): What errors say besides.
    """

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
        """Make an entity, if its place holds the mention. If it does not, it may still do so counted in UTF-16
        units, or code points; with `repair` it may be moved to the one place of the text that does.

        start (int), end (int): Its place: the first character, and the one past the last.
        label (str): Its label.
        mention (Optional[str]): What is said to stand there, if anything is.
        shown (str): The place as the file has it, for errors.
        RETURNS (Optional[Entity]): The entity; None if it was left out, which is reported. Raises FormatError, with the
            place in the file, where it is wrong.
        """
        if not (type(start) is int and type(end) is int):
            raise FormatError(f"{self.place}: {start!r}, {end!r} of {mention or label!r} must be two integers.")
        if not isinstance(label, str) or not label.strip():
            raise FormatError(f"{self.place}: an entity without a label at {start}, {end}.")
        mention = None if mention is None else LONE_SURROGATE.sub("\ufffd", mention)
        entity = self._find(self._offsets, start, end, label, mention)
        if entity is not None:
            return entity
        if mention is not None:
            other = OTHERWISE[self._unit]
            entity = self._find(Offsets(self.text, other), start, end, label, mention)
            if entity is not None:
                self.report.add_problem(f"place of an entity counted in {other}: read so", self.place)
                return entity
        return self._mend(start, end, label, mention, shown or f"{start}, {end}")

    def _find(self, offsets: Offsets, start: int, end: int, label: str, mention: Optional[str]) -> Optional[Entity]:
        begin, stop = offsets.decode(start), offsets.decode(end)
        if begin is None or stop is None or begin >= stop:
            return None
        same = mention is None or _bare(self.text[begin:stop]) == _bare(mention)
        return Entity(begin, stop, label) if same else None

    def _mend(self, start: int, end: int, label: str, mention: Optional[str], shown: str) -> Optional[Entity]:
        there = self.text[max(start, 0) : max(end, 0)]
        found = f"{self.place}: {label} {mention!r} is not what stands at {shown}: {there!r}"
        if mention is None:
            found = f"{self.place}: {label} at {shown} is no part of a text of {len(self.text)} characters"
        if not self.options.repair:
            counted = f"Places were counted in {self._unit} (--offsets)."
            raise FormatError(f"{found}. {self._hint} {counted} Repair it (--repair).")
        if mention and self.text.count(mention) == 1:
            self.report.add_problem("entity at the wrong place: moved to the only place of its mention", found)
            begin = self.text.index(mention)
            return Entity(begin, begin + len(mention), label)
        self.report.add_problem("entity at the wrong place: left out, its mention is not once in the text", found)
        return None

    def collect(self, found: Iterable[Optional[Entity]]) -> List[Entity]:
        """RETURNS (List[Entity]): Entities by their place, each once; those given twice are reported."""
        entities: Set[Entity] = set()
        for entity in found:
            if entity in entities:
                mention = self.text[entity.start : entity.end]  # type: ignore[union-attr]
                problem = f"{self.place}: {entity.label} {mention}"  # type: ignore[union-attr]
                self.report.add_problem("entity that is given twice: kept once", problem)
            elif entity is not None:
                entities.add(entity)
        return sorted(entities)


def _bare(text: str) -> str:
    """Tools write white space inside of mentions differently."""
    return "".join(text.split())
