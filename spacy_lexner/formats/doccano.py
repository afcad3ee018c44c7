"""doccano's JSON lines: a text and its spans. Offsets count UTF-16 units, as browsers do, or grapheme clusters in
projects with that setting.

`{"text": "我在南京", "label": [[2, 4, "GPE"]]}`
"""

from typing import Any, Dict, Iterable, Iterator, List, Tuple

from ..lexicon.limits import quote, shorten
from .json_text import check_text, dumps, read_objects
from .mentions import Mentions
from .offsets import UTF_16, Offsets
from .record import FormatError, ReadOptions, Record
from .report import Report
from .source import Source
from .task import Task, find_regions

EXAMPLE = '{"text": "我在南京", "label": [[2, 4, "GPE"]]}'
KEYS = ("label", "labels", "entities")


def read_doccano(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read a doccano export. A text without any of KEYS is unannotated. For projects that count grapheme clusters, set
    `options.offsets` to "graphemes"."""
    for place, data in read_objects(source, options, report, EXAMPLE):
        text = check_text(data.get("text", data.get("data")), place, options, report, EXAMPLE)
        key, entities = next((key for key in KEYS if data.get(key) is not None), None), None
        if key is not None:
            mentions = Mentions(text, place, options, report, unit=UTF_16)
            entities = mentions.collect(mentions.check(*span) for span in _read_spans(data[key], place))
        for name in ("relations", "cats", "Comments"):
            if data.get(name):
                report.add_problem(f"{name} of a text: left out", place)
        yield Record(text, None, entities, place)


def _read_spans(spans: Any, place: str) -> Iterator[Tuple[Any, Any, Any]]:
    """Start, end and label of each span."""
    for span in spans if isinstance(spans, list) else [spans]:
        if isinstance(span, dict):
            start, end = (span.get(f"{edge}_offset", span.get(edge)) for edge in ("start", "end"))
            yield start, end, span.get("label")
        elif isinstance(span, list) and len(span) == 3:
            yield span[0], span[1], span[2]
        else:
            raise FormatError(f"{place}: {quote(span)} is not a span; expected start, end and label, as in {EXAMPLE}")


def write_doccano(tasks: Iterable[Task], report: Report, *, unit: str = UTF_16) -> Iterator[str]:
    """Write the lines that a doccano project for sequence labelling imports."""
    for task in tasks:
        regions = list(find_regions(task, Offsets(task.record.text, unit), report))
        line: Dict[str, Any] = {"text": task.record.text}
        if task.record.entities is not None:
            line["label"] = [[start, end, label] for start, end, label, _, _ in regions]
        for region in regions:
            if region.score is not None:
                report.add_problem("score of an entity: left out", f"{shorten(region.label)} {shorten(region.mention)}")
        line.update(_notes(task, line, report))
        yield dumps(line)


def _notes(task: Task, line: Dict[str, Any], report: Report) -> Dict[str, Any]:
    """Notes become fields of their own, which doccano keeps as metadata."""
    taken: List[str] = [name for name in task.notes or {} if name in (*line, *KEYS, "id", "data")]
    for name in taken:
        report.add_problem(f"note {name!r}: left out, since doccano uses that name", task.record.place)
    return {name: value for name, value in (task.notes or {}).items() if name not in taken}
