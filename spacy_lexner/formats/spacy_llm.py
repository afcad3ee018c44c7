"""Few-shot examples of spacy-llm, as YAML, a JSON list or JSON lines. They have mentions, but no offsets.

`{"text": "我在南京", "entities": {"GPE": ["南京"]}}`, for `spacy.NER.v2`: every occurrence of a mention is an entity.

`{"text": "我在南京", "spans": [{"text": "南京", "is_entity": true, "label": "GPE", "reason": "is a GPE"}]}`, for
`spacy.NER.v3`: occurrences in order, some of which are not entities.
"""

from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

import srsly

from ..lexicon.limits import quote, shorten
from .json_text import check_text, dumps, parse, read_list
from .offsets import CODE_POINTS
from .record import Entity, FormatError, ReadOptions, Record
from .report import Report
from .source import Source, read_chunks, read_lines
from .task import Task
from .yaml_text import read_yaml_list

EXAMPLE = '{"text": "我在南京", "entities": {"GPE": ["南京"]}}'
NO_LABEL = "==NONE=="  # spacy-llm's label for a mention that is not an entity
INEXACT = "text whose mentions also occur elsewhere, or overlap: read back with other entities"
NOT_FOUND = "mention that does not occur in the text: left out"


def is_example(data: Any) -> bool:
    """Whether an object is a few-shot example, not a line of Prodigy, doccano or CLUE."""
    spans = data.get("spans") if isinstance(data, dict) else None
    marked = isinstance(spans, list) and any(isinstance(span, dict) and "is_entity" in span for span in spans)
    return marked or (isinstance(data, dict) and isinstance(data.get("entities"), dict))


def read_spacy_llm(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read few-shot examples. An example with neither "entities" nor "spans" is an unannotated text."""
    number = 0
    for number, data in enumerate(_load(source, options, report), start=1):
        place = f"{source.name}: example {number}"
        if not isinstance(data, dict):
            raise FormatError(f"{place}: expected an object, such as {EXAMPLE}")
        text = check_text(data.get("text"), place, options, report, EXAMPLE)
        yield Record(text, None, _read_entities(text, data, place, options, report), place)
    if not number:
        raise FormatError(f"{source.name}: expected a list of examples, such as {EXAMPLE}")


def _load(source: Source, options: ReadOptions, report: Report) -> Iterator[Any]:
    """The examples of a file, one at a time."""
    starts = (chunk.lstrip()[:1] for chunk in read_chunks(source, options, Report()))
    start = next(filter(None, starts), "")
    if start == "{":
        lines = read_lines(source, options, report)
        yield from (parse(line, f"{source.name}:{number}", EXAMPLE) for number, line in lines if line.strip())
    elif start == "[":
        yield from read_list(source, options, report, EXAMPLE)
    else:
        yield from read_yaml_list(source, options, report, EXAMPLE)


def _read_entities(
    text: str, data: Dict[str, Any], place: str, options: ReadOptions, report: Report
) -> Optional[List[Entity]]:
    missing: List[str] = []
    if data.get("spans") is not None:
        entities = find_in_turn(text, _read_spans(data["spans"], place), missing)
    elif data.get("entities") is not None:
        entities = find_all(text, _read_mentions(data["entities"], place), missing)
    else:
        return None
    for mention in missing:
        if not options.repair:
            raise FormatError(f"{place}: {quote(mention)} does not occur in {quote(text)}. Leave it out (--repair).")
        report.add_problem(NOT_FOUND, f"{place}: {shorten(mention)}")
    return entities


def _read_mentions(labels: Any, place: str) -> Iterator[Tuple[str, str]]:
    """The label and text of each mention."""
    for label, mentions in labels.items() if isinstance(labels, dict) else [(labels, None)]:
        if not isinstance(mentions, list) or not all(_is_text(value) for value in (label, *mentions)):
            raise FormatError(f'{place}: "entities" should be lists of quoted texts by label, as in {EXAMPLE}')
        yield from ((label, mention) for mention in mentions)


def _read_spans(spans: Any, place: str) -> Iterator[Tuple[Optional[str], str]]:
    """The label (None if it is not an entity) and text of each mention."""
    for span in spans if isinstance(spans, list) else [spans]:
        if not isinstance(span, dict) or not all(_is_text(span.get(name)) for name in ("text", "label")):
            raise FormatError(
                f'{place}: "spans" should be objects with a quoted "text" and "label", not {quote(span)}.'
            )
        if not isinstance(span.get("is_entity"), bool):
            raise FormatError(f'{place}: "is_entity" of {quote(span["text"])} should be true or false.')
        yield span["label"] if span["is_entity"] else None, span["text"]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def find_all(text: str, mentions: Iterable[Tuple[str, str]], missing: List[str]) -> List[Entity]:
    """Find every occurrence of every mention, from left to right. Mentions that do not occur are added to `missing`."""
    found = set()
    for label, mention in mentions:
        start = text.find(mention)
        if start < 0:
            missing.append(mention)
        while start >= 0:
            found.add(Entity(start, start + len(mention), label))
            start = text.find(mention, start + len(mention))
    return sorted(found)


def find_in_turn(text: str, mentions: Iterable[Tuple[Optional[str], str]], missing: List[str]) -> List[Entity]:
    """Find the next occurrence of each mention (label None: not an entity) after the previous mention, or else its
    first one in the text. Mentions that do not occur are added to `missing`."""
    found = set()
    position = 0
    for label, mention in mentions:
        start = text.find(mention, position)
        start = text.find(mention) if start < 0 else start
        if start < 0:
            missing.append(mention)
            continue
        position = start + len(mention)
        if label is not None:
            found.add(Entity(start, position, label))
    return sorted(found)


def write_spacy_llm(
    tasks: Iterable[Task], report: Report, *, suffix: str, reasons: bool, unit: str = CODE_POINTS
) -> Iterator[str]:
    """Write few-shot examples.

    suffix (str): One of .yml, .yaml, .json and .jsonl, which `spacy.FewShotReader.v1` reads.
    reasons (bool): Write "spans" with reasons, for `spacy.NER.v3`, instead of "entities".
    """
    check_suffix(suffix)
    examples = _make_examples(tasks, report, _make_spans if reasons else _make_mentions)
    if suffix == ".jsonl":
        yield from map(dumps, examples)
    elif suffix == ".json":
        yield from ("[", ",\n".join(map(dumps, examples)), "]")
    else:
        yield srsly.yaml_dumps(list(examples)).rstrip("\n")


def check_suffix(suffix: str) -> None:
    """Raise FormatError for the suffix of a file that `spacy.FewShotReader.v1` does not read."""
    if suffix not in (".yml", ".yaml", ".json", ".jsonl"):
        raise FormatError(
            f"The suffix of a file with examples for spacy-llm is {suffix!r}; expected .yml, .yaml, .json or .jsonl."
        )


def _make_examples(
    tasks: Iterable[Task], report: Report, make: Callable[[str, List[Entity]], Tuple[Dict[str, Any], List[Entity]]]
) -> Iterator[Dict[str, Any]]:
    for task in tasks:
        record = task.record
        if record.entities is None:
            report.add_problem("text without annotation: left out, since it is not an example", record.place)
            continue
        if task.notes or any(score is not None for score in task.scores or ()):
            report.add_problem("notes and scores of a text: left out", record.place)
        written, read = make(record.text, sorted(record.entities))
        if read != sorted(record.entities):
            report.add_problem(INEXACT, record.place)
        yield {"text": record.text, **written}


def _make_mentions(text: str, entities: List[Entity]) -> Tuple[Dict[str, Any], List[Entity]]:
    """RETURNS (Tuple[Dict[str, Any], List[Entity]]): The mentions by label, and the entities read back from them."""
    labels: Dict[str, List[str]] = {}
    for start, end, label in entities:
        mentions = labels.setdefault(label, [])
        if text[start:end] not in mentions:
            mentions.append(text[start:end])
    pairs = [(label, mention) for label, mentions in labels.items() for mention in mentions]
    return {"entities": labels}, find_all(text, pairs, [])


def _make_spans(text: str, entities: List[Entity]) -> Tuple[Dict[str, Any], List[Entity]]:
    """RETURNS (Tuple[Dict[str, Any], List[Entity]]): The mentions in order, each after those of its earlier occurrences
    that are not entities, and the entities read back from them."""
    spans: List[Dict[str, Any]] = []
    position = 0
    for start, end, label in entities:
        mention = text[start:end]
        while 0 <= (other := text.find(mention, position)) < start:
            reason = f"is no {label} here"
            spans.append({"text": mention, "is_entity": False, "label": NO_LABEL, "reason": reason})
            position = other + len(mention)
        spans.append({"text": mention, "is_entity": True, "label": label, "reason": f"is a {label}"})
        position = end
    pairs = [(span["label"] if span["is_entity"] else None, span["text"]) for span in spans]
    return {"spans": spans}, find_in_turn(text, pairs, [])
