"""The tasks written for annotation tools: texts with the entities known so far."""

from typing import Any, Iterator, Mapping, NamedTuple, Optional, Sequence

from ..lexicon.limits import shorten
from .offsets import Offsets
from .record import Record
from .report import Report

INSIDE = "entity that begins or ends inside a unit that offsets count: left out"


class Task(NamedTuple):
    """A text for an annotation tool."""

    record: Record
    scores: Optional[Sequence[Optional[float]]] = None  # the confidence of each entity
    predicted: bool = False  # whether the entities are a model's, to be checked, rather than a person's
    notes: Optional[Mapping[str, Any]] = None  # other information for the annotator


class Region(NamedTuple):
    """An entity in a tool's units."""

    start: int
    end: int  # exclusive
    label: str
    mention: str  # its text
    score: Optional[float] = None  # its confidence


def find_regions(task: Task, offsets: Offsets, report: Report) -> Iterator[Region]:
    """Express the entities of a text in the units of `offsets`; report and leave out those that cannot be expressed."""
    text = task.record.text
    for i, (begin, stop, label) in enumerate(task.record.entities or ()):
        start, end = offsets.encode(begin), offsets.encode(stop)
        if start is None or end is None:
            report.add_problem(INSIDE, f"{task.record.place}: {shorten(label)} {shorten(text[begin:stop])}")
        else:
            yield Region(start, end, label, text[begin:stop], None if task.scores is None else task.scores[i])
