"""What is written for annotation tools: texts with the entities known so far."""

from typing import Any, Iterator, Mapping, NamedTuple, Optional, Sequence

from .offsets import Offsets
from .record import Record
from .report import Report

INSIDE = "entity that begins or ends inside a unit that offsets count: left out"


class Task(NamedTuple):
    """A text for an annotation tool.

    record (Record): The text, its tokens and its entities.
    scores (Optional[Sequence[Optional[float]]]): The confidence of each entity.
    predicted (bool): Whether the entities are a model's, to be checked, and not a person's.
    notes (Optional[Mapping[str, Any]]): Other information for the annotator.
    """

    record: Record
    scores: Optional[Sequence[Optional[float]]] = None
    predicted: bool = False
    notes: Optional[Mapping[str, Any]] = None


class Region(NamedTuple):
    """An entity as a tool sees it: `start` and `end` (exclusive) in the tool's units, `mention` its text, `score` its
    confidence."""

    start: int
    end: int
    label: str
    mention: str
    score: Optional[float] = None


def find_regions(task: Task, offsets: Offsets, report: Report) -> Iterator[Region]:
    """Express the entities of a text in other units.

    task (Task): The text.
    offsets (Offsets): Its offsets in these units.
    report (Report): Collects entities that cannot be expressed.
    YIELDS (Region): The others.
    """
    text = task.record.text
    for i, (begin, stop, label) in enumerate(task.record.entities or ()):
        start, end = offsets.encode(begin), offsets.encode(stop)
        if start is None or end is None:
            report.add_problem(INSIDE, f"{task.record.place}: {label} {text[begin:stop]}")
        else:
            yield Region(start, end, label, text[begin:stop], None if task.scores is None else task.scores[i])
