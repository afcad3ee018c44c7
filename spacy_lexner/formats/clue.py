"""CLUE JSON lines, as of CLUENER2020: a text and its entities by label and mention, with inclusive ends.

`{"text": "浙商银行企业信贷部", "label": {"company": {"浙商银行": [[0, 3]]}}}`
"""

import json
import re
from typing import Any, Iterator, List, Optional, Set, Tuple

from .record import LOST_CHARACTERS, Entity, FormatError, ReadOptions, Record
from .report import Report
from .source import Source, read_lines

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
EXAMPLE = '{"text": "浙商银行", "label": {"company": {"浙商银行": [[0, 3]]}}}'


def read_clue(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read a file of CLUE JSON lines, a text at a time.

    source (Source): The file.
    options (ReadOptions): How it is read.
    report (Report): Gets what was mended.
    YIELDS (Record): The texts. A line without "label", as in test sets, is a text without annotation. Raises
        FormatError, with file and line, where the file is wrong.
    """
    n_texts = 0
    for number, line in read_lines(source, options, report):
        if not line.strip():
            continue
        n_texts += 1
        place = f"{source.name}:{number}"
        try:
            data = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise FormatError(f"{place}: not JSON ({error}). Expected a line such as {EXAMPLE}") from None
        if not isinstance(data, dict) or not isinstance(data.get("text"), str):
            raise FormatError(f'{place}: expected an object with a string "text", such as {EXAMPLE}')
        text, entities = data["text"], None
        if data.get("label") is not None:
            entities = _read_entities(text, data["label"], place, options, report)
        yield Record(_check_text(text, place, options, report), None, entities, place)
    if n_texts == 0:
        raise FormatError(f"{source.name}: the file has no text.")


def _check_text(text: str, place: str, options: ReadOptions, report: Report) -> str:
    """The text without lone surrogates, which JSON can hold and UTF-8 cannot."""
    surrogate = LONE_SURROGATE.search(text)
    if surrogate is not None:
        if not options.repair:
            found = f"a lone surrogate, half of a character, at {surrogate.start()}"
            raise FormatError(f"{place}: {found}. Put U+FFFD in its place (--repair).")
        report.add_problem("text with lone surrogates: replaced by U+FFFD", place)
        text = LONE_SURROGATE.sub("\ufffd", text)
    elif "\ufffd" in text:
        report.add_problem(LOST_CHARACTERS, place)
    return text


def _read_entities(text: str, labels: Any, place: str, options: ReadOptions, report: Report) -> List[Entity]:
    entities: Set[Entity] = set()
    for label, mention, bounds in _walk(labels, place):
        entity = _check(text, label, mention, bounds, place, options, report)
        if entity in entities:
            report.add_problem("entity that is given twice: kept once", f"{place}: {label} {mention}")
        elif entity is not None:
            entities.add(entity)
    return sorted(entities)


def _walk(labels: Any, place: str) -> Iterator[Tuple[str, str, Any]]:
    """Every label, mention and pair of bounds."""
    for label, mentions in _items(labels, place):
        for mention, occurrences in _items(mentions, place):
            if not isinstance(occurrences, list):
                raise FormatError(f"{place}: the places of {mention!r} must be a list of pairs, as in {EXAMPLE}")
            for bounds in occurrences:
                yield label, mention, bounds


def _items(value: Any, place: str) -> Any:
    if not isinstance(value, dict):
        raise FormatError(f"{place}: {value!r} should be an object, as in {EXAMPLE}")
    return value.items()


def _check(
    text: str, label: str, mention: str, bounds: Any, place: str, options: ReadOptions, report: Report
) -> Optional[Entity]:
    """The entity, if its bounds hold the mention; with `repair` the one place of the text that does."""
    if not (isinstance(bounds, list) and len(bounds) == 2 and all(type(bound) is int for bound in bounds)):
        raise FormatError(f"{place}: the place {bounds!r} of {mention!r} must be a pair of integers, as in {EXAMPLE}")
    if not label or not mention:
        raise FormatError(f"{place}: an entity with an empty label or mention: {label!r} {mention!r} {bounds}")
    start, end = bounds[0], bounds[1] + 1
    if 0 <= start < end <= len(text) and text[start:end] == mention:
        return Entity(start, end, label)
    found = f"{place}: {label} {mention!r} is not what stands at {bounds}: {text[max(start, 0) : max(end, 0)]!r}"
    if not options.repair:
        raise FormatError(f"{found}. Ends are inclusive. Repair it (--repair).")
    if text.count(mention) == 1:
        report.add_problem("entity at the wrong place: moved to the only place of its mention", found)
        return Entity(text.index(mention), text.index(mention) + len(mention), label)
    report.add_problem("entity at the wrong place: left out, its mention is not once in the text", found)
    return None
