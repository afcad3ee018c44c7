"""doccano's JSON lines: a text and its spans. Offsets count UTF-16 units, as browsers do, or grapheme clusters in
projects with that setting. Similar lines of other programs, such as `annotate`, count code points.

`{"text": "我在南京", "label": [[2, 4, "GPE"]]}`

`{"text": "我在南京", "entities": [{"start": 2, "end": 4, "label": "GPE", "text": "南京"}]}`, of other programs

`{"text": "我在南京", "entities": [[2, 4, "GPE"]]}`, as spaCy has it
"""

from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional

from ..lexicon.limits import quote, shorten
from .json_text import check_text, dumps, read_objects
from .mentions import Mentions
from .offsets import CODE_POINTS, UTF_16, Offsets
from .record import Entity, FormatError, ReadOptions, Record
from .report import Report
from .source import Source
from .task import Task, find_regions

EXAMPLE = '{"text": "我在南京", "label": [[2, 4, "GPE"]]}'
KEYS = ("label", "labels", "entities")
OF_SPACY = "entities"  # doccano has triples under the other names only
NOT_READ = ("spans", "ents", "relations", "cats", "Comments")


class Span(NamedTuple):
    """A span, unchecked."""

    start: Any
    end: Any
    label: Any
    mention: Any = None  # its text, where given
    unit: str = UTF_16  # what its offsets count


def read_doccano(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read a doccano export. A text without any of KEYS is unannotated. For projects that count grapheme clusters, set
    `options.offsets` to "graphemes"."""
    for place, data in read_objects(source, options, report, EXAMPLE):
        text = check_text(data.get("text", data.get("data")), place, options, report, EXAMPLE)
        for name in filter(data.get, NOT_READ):
            report.add_problem(f"{name} of a text: left out", place)
        yield Record(text, None, _read_entities(text, data, place, options, report), place)


def _read_entities(
    text: str, data: Dict[str, Any], place: str, options: ReadOptions, report: Report
) -> Optional[List[Entity]]:
    given = [key for key in KEYS if data.get(key) is not None]
    if not given:
        return None
    used = next(filter(data.get, given), given[0])
    for name in given:
        if data[name] and data[name] != data[used]:
            report.add_problem(f"{name} of a text that also has {used}: left out", place)
    mentions = {unit: Mentions(text, place, options, report, unit=unit) for unit in (UTF_16, CODE_POINTS)}
    spans = _read_spans(data[used], place, CODE_POINTS if used == OF_SPACY else UTF_16)
    return mentions[UTF_16].collect(mentions[span.unit].check(*span[:4]) for span in spans)


def _read_spans(spans: Any, place: str, unit: str) -> Iterator[Span]:
    """The spans of a text; `unit` is that of triples."""
    for span in spans if isinstance(spans, list) else [spans]:
        if isinstance(span, dict) and "start_offset" in span:
            yield Span(span["start_offset"], span.get("end_offset"), span.get("label"), span.get("text"))
        elif isinstance(span, dict):
            yield Span(span.get("start"), span.get("end"), span.get("label"), span.get("text"), CODE_POINTS)
        elif isinstance(span, list) and len(span) == 3:
            start, end, label = span
            yield Span(start, end, label, unit=unit)
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
