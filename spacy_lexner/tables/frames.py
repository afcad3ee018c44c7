"""Entities in pandas frames: a row for each entity, with the key of its text.

frame = pandas.read_csv("news.csv")
entities = write_frame(nlp.pipe(frame["text"]), keys=frame.index)
docs = read_frame(frame["text"], entities, nlp.make_doc)
"""

from itertools import zip_longest
from typing import Any, Callable, Dict, Hashable, Iterable, Iterator, List, Optional

from spacy.tokens import Doc

from ..formats.mentions import Mentions
from ..formats.record import FormatError, ReadOptions, Record
from ..formats.report import Report
from .entities import KEYS, check_entities, list_entities, make_docs

try:
    import pandas as pd
except ImportError as error:
    raise ImportError("Data frames need the `data` extra: python -m pip install 'spacy-lexner[data]'.") from error

MISSING: Any = object()
COLUMNS = {"start": "int64", "end": "int64", "label": "str", "text": "str", "score": "float64"}


def write_frame(docs: Iterable[Doc], keys: Optional[Iterable[Hashable]] = None) -> "pd.DataFrame":
    """Write the entities of Docs to a frame, in order.

    docs (Iterable[Doc]): Such as `nlp.pipe(frame["text"])`.
    keys (Optional[Iterable[Hashable]]): The key of each Doc, such as `frame.index`; by default its number, from 0.
        Raises ValueError if there are more or fewer keys than Docs.
    RETURNS (pandas.DataFrame): A row for each entity, with the key of its Doc in `doc`, its exact characters `start` to
        `end` (exclusive), `label`, `text` and `score` (NaN if the Doc has no scores). Docs without entities have
        no rows.
    """
    found: List[Dict[str, Any]] = []
    numbered = enumerate(docs) if keys is None else zip_longest(keys, docs, fillvalue=MISSING)
    for number, (key, doc) in enumerate(numbered):
        if key is MISSING or doc is MISSING:
            more, fewer = ("Docs", "keys") if key is MISSING else ("keys", "Docs")
            raise ValueError(f"There are more {more} than the {number} {fewer}. Give one key for each Doc.")
        found.extend({"doc": key, **row} for row in list_entities(doc) or ())
    return pd.DataFrame(found, columns=["doc", *COLUMNS]).astype(COLUMNS)


def read_frame(
    texts: "pd.Series",
    entities: "pd.DataFrame",
    make_doc: Callable[[str], Doc],
    *,
    repair: bool = False,
    report: Optional[Report] = None,
) -> Iterator[Doc]:
    """Make Docs with the entities of a frame; the inverse of `write_frame`.

    texts (pandas.Series): The texts. Their index, without duplicates, has the keys in the column `doc`.
    entities (pandas.DataFrame): The columns `doc`, `start`, `end`, `label`, and optionally `text`, to check the offsets
        against.
    make_doc (Callable[[str], Doc]): The tokenizer, such as `nlp.make_doc`.
    repair (bool): Move entities with wrong offsets to the only occurrence of their text, or else leave them out, and
        report it, instead of raising an error.
    report (Optional[Report]): Collects what was repaired or left out. Without one, problems become warnings after the
        last Doc.
    YIELDS (Doc): A Doc for each text, annotated even if it has no entities. Raises FormatError for any other error.
    """
    if not texts.index.is_unique:
        raise FormatError(f"The key {texts.index[texts.index.duplicated()][0]!r} has several texts.")
    if missing := [name for name in ("doc", *KEYS) if name not in entities.columns]:
        raise FormatError(f"The entities have no column {missing[0]!r}, only {', '.join(map(repr, entities.columns))}.")
    if unknown := set(entities["doc"]).difference(texts.index):
        raise FormatError(f"An entity has the key {unknown.pop()!r}, but no text does.")
    columns = [name for name in (*KEYS, "text") if name in entities.columns]
    by_key: Dict[Any, List[Dict[str, Any]]] = {}
    for key, *values in zip(entities["doc"], *(map(_whole, entities[name].tolist()) for name in columns)):
        by_key.setdefault(key, []).append(dict(zip(columns, values)))

    def read(problems: Report) -> Iterator[Record]:
        return (_make_record(key, text, by_key.get(key, []), repair, problems) for key, text in texts.items())

    yield from make_docs(read, make_doc, report)


def _whole(value: Any) -> Any:
    """A whole number as an integer: pandas makes floats of a column of integers in which one was missing for a time."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _make_record(key: Any, text: Any, rows: List[Dict[str, Any]], repair: bool, report: Report) -> Record:
    place = f"text {key!r}"
    if not isinstance(text, str):
        raise FormatError(f"{place} is {text!r}, not a string. Drop it first: frame.dropna(subset=[...]).")
    return Record(text, None, check_entities(Mentions(text, place, ReadOptions(repair=repair), report), rows), place)
