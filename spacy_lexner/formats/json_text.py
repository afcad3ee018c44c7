"""Reading JSON safely, for all JSON formats: objects on lines or in a list, item by item, and their texts."""

import json
import re
from itertools import islice
from typing import Any, Dict, Iterator, Tuple

from ..lexicon.limits import check_nesting, exceeded, limit, too_deep
from .record import LOST_CHARACTERS, FormatError, ReadOptions
from .report import Report
from .source import CHUNK, Source, read_chunks, read_lines

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
SPACE = re.compile(r"[ \t\r\n]*")
COMMA = re.compile(r"(?:,\s*)?")
HALF = "has a lone surrogate, half of a character: correct it, or give the file's encoding (--encoding)"


def read_objects(
    source: Source, options: ReadOptions, report: Report, example: str
) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """Read a file with one JSON object on each line, or a list of objects, and yield pairs of the place ("file:line" or
    "file: item number") and the object. Raises FormatError, showing `example`, for anything else or if there is
    none."""
    found = False
    for place, data in _read_values(source, options, report, example):
        found = True
        if not isinstance(data, dict):
            raise FormatError(f"{place}: expected an object, such as {example}")
        yield place, data
    if not found:
        raise FormatError(f"{source.name}: the file has no text.")


def _read_values(source: Source, options: ReadOptions, report: Report, example: str) -> Iterator[Tuple[str, Any]]:
    first = next((line for _, line in read_lines(source, options, Report()) if line.strip()), "")
    if first.lstrip().startswith("["):
        for number, item in enumerate(read_list(source, options, report, example), start=1):
            yield f"{source.name}: item {number}", item
    else:
        for number, line in read_lines(source, options, report):
            if line.strip():
                place = f"{source.name}:{number}"
                yield place, parse(line, place, example)


def parse(text: str, place: str, example: str) -> Any:
    """Parse JSON. Raises FormatError, showing `example`, if it is not JSON or is nested too deeply."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise FormatError(f"{place}: {too_deep()}.") from None
    except ValueError as error:
        raise FormatError(f"{place}: {_not_json(error)}. Expected {example}") from None
    _check_nesting(value, text, place)
    return value


def _check_nesting(value: Any, text: str, place: str) -> None:
    if text.count("[") + text.count("{") > limit("nesting"):  # otherwise it cannot be too deep
        try:
            check_nesting(value)
        except ValueError as error:
            raise FormatError(f"{place}: {error}.") from None


def _not_json(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({error})"
    return f"an integer with more digits than Python reads; if it is correct, set PYTHONINTMAXSTRDIGITS ({error})"


def read_list(source: Source, options: ReadOptions, report: Report, example: str) -> Iterator[Any]:
    """Read a file that is a JSON list, item by item, with only one item in memory. Raises FormatError, showing
    `example`, for anything else."""
    decoder = json.JSONDecoder()
    chunks = read_chunks(source, options, report)
    text, at, begun, n_items = "", 0, False, 0
    while True:
        at = _skip(SPACE, text, at)
        if not begun and at < len(text):
            if text[at] != "[":
                raise FormatError(f"{source.name}: expected a list of objects, such as {example}")
            at, begun = _skip(SPACE, text, at + 1), True
        if begun and text.startswith("]", at):
            if (text[at + 1 :] + "".join(chunks)).strip():
                raise FormatError(f"{source.name}: not JSON (more text after the list). Expected {example}")
            return
        place = f"{source.name}: item {n_items + 1}"
        try:
            start = _skip(COMMA, text, at) if n_items else at
            item, end = decoder.raw_decode(text, start)
            # A number may continue in the next chunk.
            if (n_items and start == at) or _skip(SPACE, text, end) == len(text):
                raise json.JSONDecodeError("expected a comma or the end of the list", text, end)
        except RecursionError:
            raise FormatError(f"{place}: {too_deep()}.") from None
        except ValueError as error:
            if at:  # drop the items before, and again try this one: errors name places within it
                text, at = text[at:], 0
                continue
            # Double the text, so that a long item is parsed only a few times.
            more = "".join(islice(chunks, 1 + len(text) // CHUNK))
            if not more or not isinstance(error, json.JSONDecodeError):
                raise FormatError(f"{place}: {_not_json(error)}. Expected {example}") from None
            text += more
            if len(text) > limit("line") + CHUNK:
                raise FormatError(f"{place}: {exceeded('line', 'more characters')}.") from None
            continue
        _check_nesting(item, text[start:end], place)
        at = end
        n_items += 1
        yield item


def _skip(pattern: "re.Pattern[str]", text: str, at: int) -> int:
    """RETURNS (int): The end of what a pattern, which also matches nothing, finds at a place."""
    return pattern.match(text, at).end()  # type: ignore[union-attr]


def check_text(text: Any, place: str, options: ReadOptions, report: Report, example: str) -> str:
    """Check the text of a JSON object and report lost characters. Lone surrogates, which JSON can encode and UTF-8
    cannot, are replaced by U+FFFD with `repair`. Raises FormatError for them without `repair`, and for a value that is
    not a string."""
    if not isinstance(text, str):
        raise FormatError(f'{place}: expected an object with a string "text", such as {example}')
    surrogate = LONE_SURROGATE.search(text)
    if surrogate is not None:
        if not options.repair:
            found = f"a lone surrogate, half of a character, at {surrogate.start()}"
            raise FormatError(f"{place}: {found}. Replace it by U+FFFD (--repair).")
        report.add_problem("text with lone surrogates: replaced by U+FFFD", place)
        return LONE_SURROGATE.sub("\ufffd", text)
    if "\ufffd" in text:
        report.add_problem(LOST_CHARACTERS, place)
    return text


def dumps(value: Any) -> str:
    """Write a value as JSON on one line, without escaping characters."""
    return json.dumps(value, ensure_ascii=False)
