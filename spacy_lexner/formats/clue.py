"""CLUE JSON lines, as in CLUENER2020: a text and its entities by label and mention, with inclusive ends.

`{"text": "浙商银行企业信贷部", "label": {"company": {"浙商银行": [[0, 3]]}}}`
"""

from typing import Any, Iterator, Optional, Tuple

from ..lexicon.limits import quote
from .json_text import check_text, read_objects
from .mentions import Mentions
from .record import Entity, FormatError, ReadOptions, Record
from .report import Report
from .source import Source

NOT_READ = ("labels", "entities", "spans", "ents")  # where other tools have their entities
EXAMPLE = '{"text": "浙商银行", "label": {"company": {"浙商银行": [[0, 3]]}}}'


def read_clue(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read CLUE JSON lines. A line without "label", as in test sets, is an unannotated text. Raises
    FormatError for entities under another name, which would be lost."""
    for place, data in read_objects(source, options, report, EXAMPLE):
        text, entities = check_text(data.get("text"), place, options, report, EXAMPLE), None
        for name in filter(data.get, NOT_READ):
            raise FormatError(
                f'{place}: "{name}" is not read as CLUE, whose entities are in "label", as in {EXAMPLE}. '
                "Name the format (--format), or rename or remove the field."
            )
        if data.get("label") is not None:
            mentions = Mentions(text, place, options, report, hint="Ends are inclusive.")
            entities = mentions.collect(_check(mentions, *found) for found in _walk(data["label"], place))
        yield Record(text, None, entities, place)


def _walk(labels: Any, place: str) -> Iterator[Tuple[str, str, Any]]:
    """YIELDS (Tuple[str, str, Any]): The label, mention and bounds of each entity, bounds unchecked."""
    for label, mentions in _items(labels, place):
        for mention, occurrences in _items(mentions, place):
            if not isinstance(occurrences, list):
                raise FormatError(f"{place}: the places of {quote(mention)} must be a list of pairs, as in {EXAMPLE}")
            for bounds in occurrences:
                yield label, mention, bounds


def _items(value: Any, place: str) -> Any:
    if not isinstance(value, dict):
        raise FormatError(f"{place}: {quote(value)} should be an object, as in {EXAMPLE}")
    return value.items()


def _check(mentions: Mentions, label: str, mention: str, bounds: Any) -> Optional[Entity]:
    place = mentions.place
    if not (isinstance(bounds, list) and len(bounds) == 2 and all(type(bound) is int for bound in bounds)):
        raise FormatError(
            f"{place}: the place {quote(bounds)} of {quote(mention)} must be a pair of integers, as in {EXAMPLE}"
        )
    if not label or not mention:
        raise FormatError(
            f"{place}: an entity with an empty label or mention: {quote(label)} {quote(mention)} {quote(bounds)}"
        )
    return mentions.check(bounds[0], bounds[1] + 1, label, mention, shown=str(bounds))
