"""What the JSON formats share: one object on each line, and its text."""

import json
import re
from typing import Any, Dict, Iterator, Tuple

from .record import LOST_CHARACTERS, FormatError, ReadOptions
from .report import Report
from .source import Source, read_lines

LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read_objects(
    source: Source, options: ReadOptions, report: Report, example: str
) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """Read a file with one JSON object on each line: pairs of "file:line" and the object. Raises FormatError, which
    shows `example`, for any other line or if there is none."""
    found = False
    for number, line in read_lines(source, options, report):
        if not line.strip():
            continue
        found, place = True, f"{source.name}:{number}"
        data = parse(line, place, example)
        if not isinstance(data, dict):
            raise FormatError(f"{place}: expected an object, such as {example}")
        yield place, data
    if not found:
        raise FormatError(f"{source.name}: the file has no text.")


def parse(text: str, place: str, example: str) -> Any:
    """Parse JSON. Raises FormatError if it is not JSON."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise FormatError(f"{place}: not JSON ({error}). Expected {example}") from None


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
    """A value as JSON on one line, with characters unescaped."""
    return json.dumps(value, ensure_ascii=False)
