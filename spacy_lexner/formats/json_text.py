"""What the JSON formats share: objects on lines, and the texts in them."""

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
    """Read a file with one JSON object on each line.

    source (Source): The file.
    options (ReadOptions): How it is read.
    report (Report): Gets lines with bytes that are not text.
    example (str): A line as it should be, for errors.
    YIELDS (Tuple[str, Dict[str, Any]]): File and line, and the object. Raises FormatError where a line is something
        else, and where there is none.
    """
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
    """RETURNS (Any): What a JSON text says. Raises FormatError where it is none."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise FormatError(f"{place}: not JSON ({error}). Expected {example}") from None


def check_text(text: Any, place: str, options: ReadOptions, report: Report, example: str) -> str:
    """Check a text.

    text (Any): What the file has in its place.
    place (str): File and line.
    options (ReadOptions): How the file is read.
    report (Report): Gets characters that were lost.
    example (str): What is expected, for errors.
    RETURNS (str): The text without lone surrogates, which JSON can hold and UTF-8 cannot.
    """
    if not isinstance(text, str):
        raise FormatError(f'{place}: expected an object with a string "text", such as {example}')
    surrogate = LONE_SURROGATE.search(text)
    if surrogate is not None:
        if not options.repair:
            found = f"a lone surrogate, half of a character, at {surrogate.start()}"
            raise FormatError(f"{place}: {found}. Put U+FFFD in its place (--repair).")
        report.add_problem("text with lone surrogates: replaced by U+FFFD", place)
        return LONE_SURROGATE.sub("\ufffd", text)
    if "\ufffd" in text:
        report.add_problem(LOST_CHARACTERS, place)
    return text


def dumps(value: Any) -> str:
    """RETURNS (str): A value as JSON on one line, with its characters as they are."""
    return json.dumps(value, ensure_ascii=False)
