"""Label Studio's JSON: a list of tasks, each with a text and annotations, or the shorter JSON-MIN. Offsets count code
points; in old versions UTF-16 units, which the mentions reveal.

`[{"data": {"text": "我在南京"}, "annotations": [{"result": [{"type": "labels", "from_name": "label", "to_name": "text",
"value": {"start": 2, "end": 4, "text": "南京", "labels": ["GPE"]}}]}]}]`
"""

from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple
from xml.etree import ElementTree

from ..lexicon.limits import quote
from .json_text import check_text, dumps, read_list
from .mentions import Mentions
from .offsets import CODE_POINTS, Offsets
from .record import Entity, FormatError, ReadOptions, Record
from .report import Report
from .source import Source
from .task import Task, find_regions

EXAMPLE = (
    '[{"data": {"text": "我在南京"}, "annotations": [{"result": [{"type": "labels", "value": '
    '{"start": 2, "end": 4, "text": "南京", "labels": ["GPE"]}}]}]}]'
)
NAMES = ("label", "labels", "entities", "spans")  # usual ones of what is marked
TAG, FIELD = "label", "text"  # names in the labelling configuration


def is_task(data: Dict[str, Any]) -> bool:
    """Whether an object is a task of Label Studio, not a text in another tool's JSON."""
    return isinstance(data.get("data"), dict) or "annotation_id" in data or any(map(_are_regions, data.values()))


def _are_regions(value: Any) -> bool:
    """Whether a value is a list of regions, as JSON-MIN has it."""
    items = value if isinstance(value, list) else []
    return bool(items) and all(isinstance(item, dict) and {"start", "labels"} <= set(item) for item in items)


def read_label_studio(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read a Label Studio export, JSON or JSON-MIN. A text without annotations, or with predictions only, is
    unannotated. Errors give the number of the task."""
    number = 0
    for number, task in enumerate(read_list(source, options, report, EXAMPLE), start=1):
        place = f"{source.name}: task {number}"
        if not isinstance(task, dict):
            raise FormatError(f"{place}: expected an object, as in {EXAMPLE}")
        text = check_text(_find_text(task, place), place, options, report, EXAMPLE)
        regions = _find_regions(task, place, report)
        entities = None if regions is None else _read_regions(Mentions(text, place, options, report), regions)
        yield Record(text, None, entities, place)
    if not number:
        raise FormatError(f"{source.name}: the file has no text.")


def _find_text(task: Dict[str, Any], place: str) -> Any:
    data = task.get("data", task)
    if not isinstance(data, dict) or FIELD in data:
        return data.get(FIELD) if isinstance(data, dict) else None
    texts = [value for value in data.values() if isinstance(value, str)]
    if len(texts) != 1 or data is task:
        fields = ", ".join(map(quote, list(data)[:5]))
        raise FormatError(f'{place}: cannot tell which of the fields {fields} is the text. Name it "{FIELD}".')
    return texts[0]


def _find_regions(task: Dict[str, Any], place: str, report: Report) -> Optional[List[Dict[str, Any]]]:
    """The regions marked by an annotator; None if nobody annotated the task."""
    if "data" not in task:
        return [{"type": "labels", "value": region} for region in _find_short_regions(task, place)]
    given = task.get("annotations", task.get("completions"))
    valid = [annotation for annotation in _objects(given, place) if not annotation.get("was_cancelled")]
    if not valid:
        if task.get("predictions"):
            report.add_problem("task with predictions only: read without annotation", place)
        return None
    if len(valid) > 1:
        report.add_problem("task annotated several times: one is read, the ground truth if there is one", place)
    chosen = next((annotation for annotation in valid if annotation.get("ground_truth")), valid[0])
    return _objects(chosen.get("result"), place)


def _find_short_regions(task: Dict[str, Any], place: str) -> Iterator[Dict[str, Any]]:
    """The regions of JSON-MIN, under whatever name the labelling configuration gives them."""
    for name, value in task.items():
        if name in NAMES and value and not _are_regions(value):
            raise FormatError(
                f'{place}: "{name}" is {quote(value)}, not a list of regions with "start" and "labels" as in JSON-MIN. '
                "If another tool wrote the file, name its format (--format); otherwise rename the field."
            )
        if isinstance(value, list):
            yield from (region for region in value if isinstance(region, dict) and "start" in region)


def _objects(value: Any, place: str) -> List[Dict[str, Any]]:
    """Check that a value is a list of objects, or missing. Raises FormatError for anything else."""
    if not isinstance(value or [], list) or not all(isinstance(item, dict) for item in value or []):
        raise FormatError(f"{place}: {quote(value)} should be a list of objects, as in {EXAMPLE}")
    return list(value or [])


def _read_regions(mentions: Mentions, regions: List[Dict[str, Any]]) -> List[Entity]:
    found: List[Optional[Entity]] = []
    for region in regions:
        [value], kind = _objects([region.get("value") or {}], mentions.place), region.get("type")
        if kind not in ("labels", "hypertextlabels"):
            mentions.report.add_problem(f"annotation of the type {quote(kind)}: left out", mentions.place)
            continue
        if not isinstance(value.get("start"), int):
            raise FormatError(
                f"{mentions.place}: the start {quote(value.get('start'))} is a position in HTML; only plain "
                "text is read."
            )
        labels = value.get(kind, value.get("labels")) or []
        if not isinstance(labels, list):
            raise FormatError(f"{mentions.place}: {quote(labels)} should be a list of labels.")
        if not labels:
            mentions.report.add_problem("region without a label: left out", mentions.place)
        found += (mentions.check(value["start"], value.get("end"), label, value.get("text")) for label in labels)
    return mentions.collect(found)


def write_label_studio(tasks: Iterable[Task], report: Report, *, unit: str = CODE_POINTS) -> Iterator[str]:
    """Write a file that Label Studio imports: a person's entities as an annotation, a model's as a prediction."""
    start = "["
    for task in tasks:
        line: Dict[str, Any] = {"data": {**(task.notes or {}), FIELD: task.record.text}}
        if FIELD in (task.notes or {}):
            report.add_problem(f"note {FIELD!r}: left out, since that is the name of the text", task.record.place)
        if task.record.entities is not None:
            result = list(_make_result(task, Offsets(task.record.text, unit), report))
            if task.predicted:
                line["predictions"] = [{"model_version": "spacy-lexner", **_mean_score(task), "result": result}]
            else:
                line["annotations"] = [{"result": result}]
        yield start + dumps(line)
        start = ","
    yield "]" if start == "," else "[]"


def _make_result(task: Task, offsets: Offsets, report: Report) -> Iterator[Dict[str, Any]]:
    for i, (start, end, label, mention, score) in enumerate(find_regions(task, offsets, report)):
        region = {"id": str(i), "from_name": TAG, "to_name": FIELD, "type": "labels"}
        value = {"start": start, "end": end, "text": mention, "labels": [label]}
        yield {**region, "value": value, **({} if score is None else {"score": score})}


def _mean_score(task: Task) -> Dict[str, float]:
    scores = [score for score in task.scores or () if score is not None]
    return {"score": sum(scores) / len(scores)} if scores else {}


def make_config(labels: Iterable[Tuple[str, str]]) -> str:
    """Make the labelling configuration (XML) of a project from (label, colour) pairs."""
    view = ElementTree.Element("View")
    tag = ElementTree.SubElement(view, "Labels", name=TAG, toName=FIELD)
    for label, color in labels:
        ElementTree.SubElement(tag, "Label", value=label, background=color)
    ElementTree.SubElement(view, "Text", name=FIELD, value=f"${FIELD}")
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"
