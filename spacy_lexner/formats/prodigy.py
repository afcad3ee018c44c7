"""Prodigy's JSON lines: a text, its tokens, its spans in code points, and the annotator's answer.

`{"text": "我在南京", "spans": [{"start": 2, "end": 4, "label": "GPE"}], "answer": "accept"}`
"""

from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

from ..lexicon.limits import quote, shorten
from .json_text import check_text, dumps, read_objects
from .mentions import Mentions
from .offsets import CODE_POINTS, Offsets
from .record import Entity, FormatError, ReadOptions, Record
from .report import Report
from .source import Source
from .task import Region, Task, find_regions

EXAMPLE = '{"text": "我在南京", "spans": [{"start": 2, "end": 4, "label": "GPE"}], "answer": "accept"}'
ANSWERS = ("accept", "reject", "ignore")
ONE_DECISION = "ner"  # the interface of ner.teach: one answer for the spans shown, nothing about others
NOT_READ = ("relations", "options", "accept", "labels", "entities", "ents")


def read_prodigy(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read the output of `prodigy db-out`. Texts that were rejected or ignored, or have neither spans nor an answer,
    are unannotated."""
    for place, data in read_objects(source, options, report, EXAMPLE):
        text = check_text(data.get("text"), place, options, report, EXAMPLE)
        words, spaces = _read_tokens(text, data.get("tokens"), place, report)
        yield Record(text, words, _read_entities(text, data, place, options, report), place, spaces)


def _read_entities(
    text: str, data: Dict[str, Any], place: str, options: ReadOptions, report: Report
) -> Optional[List[Entity]]:
    for name in NOT_READ:
        if data.get(name):
            report.add_problem(f"{name} of a text: left out", place)
    spans, answer = data.get("spans"), data.get("answer")
    if answer not in (None, *ANSWERS):
        raise FormatError(f"{place}: the answer is {quote(answer)}; expected one of {', '.join(ANSWERS)}.")
    if answer in ("reject", "ignore"):
        report.add_problem(f"text with the answer {quote(answer)}: read without annotation", place)
        return None
    if spans is None and answer is None:
        return None
    if answer is not None and data.get("_view_id") == ONE_DECISION:
        report.add_problem("answer about the spans shown only: read as if the rest had no entities", place)
    if not isinstance(spans or [], list) or not all(isinstance(span, dict) for span in spans or []):
        raise FormatError(f'{place}: "spans" must be a list of objects, as in {EXAMPLE}')
    mentions = Mentions(text, place, options, report)
    return mentions.collect(
        mentions.check(span.get("start"), span.get("end"), span.get("label"), span.get("text")) for span in spans or []
    )


def _read_tokens(
    text: str, tokens: Any, place: str, report: Report
) -> Tuple[Optional[Tuple[str, ...]], Optional[Tuple[bool, ...]]]:
    """The words, and whether a space follows each; None if the tokens do not spell the text."""
    if not tokens:
        return None, None
    try:
        words = tuple(str(token["text"]) for token in tokens)
        ends = [*(token["start"] for token in tokens[1:]), len(text)]
        spaces = tuple(bool(token.get("ws", token["end"] < end)) for token, end in zip(tokens, ends))
    except (TypeError, KeyError, AttributeError):
        raise FormatError(f'{place}: "tokens" must be a list of objects with "text", "start" and "end".') from None
    if not all(words) or "".join(f"{word} " if space else word for word, space in zip(words, spaces)) != text:
        report.add_problem("tokens that do not spell the text: left out", place)
        return None, None
    return words, spaces


def write_prodigy(tasks: Iterable[Task], report: Report, *, unit: str = CODE_POINTS) -> Iterator[str]:
    """Write the lines that `prodigy ner.manual` and `spans.manual` read; predictions have no answer yet."""
    for task in tasks:
        record, offsets = task.record, Offsets(task.record.text, unit)
        line: Dict[str, Any] = {"text": record.text}
        tokens = _make_tokens(record, offsets, report)
        if tokens:
            line["tokens"] = tokens
        if record.entities is not None:
            first, last = ({token[side]: token["id"] for token in tokens} for side in ("start", "end"))
            regions = find_regions(task, offsets, report)
            line["spans"] = [_make_span(region, first, last, report) for region in regions]
            if not task.predicted:
                line["answer"] = "accept"
        if task.notes:
            line["meta"] = dict(task.notes)
        yield dumps(line)


def _make_tokens(record: Record, offsets: Offsets, report: Report) -> List[Dict[str, Any]]:
    tokens: List[Dict[str, Any]] = []
    begin = 0
    for i, word in enumerate(record.words or ()):
        space = record.spaces is not None and record.spaces[i]
        start, end = offsets.encode(begin), offsets.encode(begin + len(word))
        if start is None or end is None:
            report.add_problem("tokens that end inside a unit that offsets count: left out", record.place)
            return []
        tokens.append({"text": word, "start": start, "end": end, "id": i, "ws": space})
        begin += len(word) + space
    return tokens


def _make_span(region: Region, first: Dict[int, int], last: Dict[int, int], report: Report) -> Dict[str, Any]:
    """A span; `first` and `last` are the tokens that begin and end at each offset."""
    start, end, label, mention, score = region
    span = {"start": start, "end": end, "label": label, "text": mention}
    if start in first and end in last:
        span.update(token_start=first[start], token_end=last[end])
    elif first:
        report.add_problem(
            "entity not aligned with tokens: written without them", f"{shorten(label)} {shorten(mention)}"
        )
    return span if score is None else {**span, "score": score}
