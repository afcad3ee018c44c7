"""Reading lists in YAML item by item, since parsing takes about 80 times the memory of the text."""

import re
from typing import Any, Iterator, List, Tuple

import srsly

from ..lexicon.limits import check_nesting, exceeded, limit, too_deep
from .record import FormatError, ReadOptions
from .report import Report
from .source import Source, read_lines

NO_CONTENT = re.compile(r"\s*(#.*)?|%.*|---\s*(#.*)?")  # before the first item
ITEM = re.compile(r"( *)-( |$)")


def read_yaml_list(source: Source, options: ReadOptions, report: Report, example: str) -> Iterator[Any]:
    """Read a file that is a list in YAML. Items that begin with a dash are read one at a time, so an alias can only
    refer to the same item; anything else is read as a whole. Raises FormatError, showing `example`, for anything but a
    list, and for an item over the limit."""
    for number, text in _cut(source, options, report):
        place = f"{source.name}:{number}"
        try:
            items = srsly.yaml_loads(text)
            check_nesting(items)
        except (ValueError, RecursionError) as error:
            if "recursion" in str(error):
                raise FormatError(f"{place}: {too_deep()}.") from None
            raise FormatError(f"{place}: neither JSON nor YAML ({error}). Expected {example}") from None
        if not isinstance(items, list):
            raise FormatError(f"{source.name}: expected a list of examples, such as {example}")
        yield from items


def _cut(source: Source, options: ReadOptions, report: Report) -> Iterator[Tuple[int, str]]:
    """Split a list into items, each with the line where it begins. Lines within an item are indented."""
    lines: List[str] = []
    begin = size = 0
    dash = None  # how an item begins
    for number, line in read_lines(source, options, report):
        if not lines:
            if NO_CONTENT.fullmatch(line):
                continue
            begin, item = number, ITEM.match(line)
            dash = item and f"{item[1]}-"
        elif dash and line.startswith(dash) and ITEM.match(line):
            yield begin, "\n".join(lines)
            begin, lines, size = number, [], 0
        lines.append(line)
        size += len(line) + 1
        if size > limit("yaml"):
            what = "an example in YAML, or YAML that is not a list of examples, of more characters"
            raise FormatError(f"{source.name}:{begin}: {exceeded('yaml', what)}; or write JSON.")
    if lines:
        yield begin, "\n".join(lines)
