"""Conversion between entities and table rows, shared by both kinds of tables."""

import warnings
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional

from spacy.tokens import Doc, Span

from ..formats.docs import add_entities
from ..formats.mentions import Mentions
from ..formats.record import Entity, FormatError, Record
from ..formats.report import Report
from ..lexicon.limits import quote
from ..pipeline.exact_offsets import get_offsets

KEYS = ("start", "end", "label")


def list_entities(doc: Doc) -> Optional[List[Dict[str, Any]]]:
    """RETURNS (Optional[List[Dict[str, Any]]]): The entities of a Doc with their exact characters, as dicts with
    `start`, `end`, `label`, `text` and `score` (None if the Doc has no scores). None if the Doc is unannotated."""
    scored = Span.has_extension("lex_score")
    if not doc.has_annotation("ENT_IOB"):
        return None
    text, rows = doc.text, []  # joined from the tokens at each call
    for ent in doc.ents:
        start, end = get_offsets(ent)
        score = ent._.lex_score if scored else None
        rows.append({"start": start, "end": end, "label": ent.label_, "text": text[start:end], "score": score})
    return rows


def check_text(value: Any, place: str, column: str) -> str:
    """Check the text in a row of a data set. Raises FormatError if it is not a string."""
    if isinstance(value, str):
        return value
    raise FormatError(
        f"{place}: the text is {quote(value)}, not a string. "
        f"Drop such rows first: dataset.filter(lambda row: isinstance(row[{column!r}], str))."
    )


def check_entities(mentions: Mentions, rows: Iterable[Mapping[str, Any]]) -> List[Entity]:
    """Check dicts with `start`, `end`, `label` and optionally `text` against a text. Raises FormatError."""
    found = []
    for row in rows:
        if missing := [key for key in KEYS if key not in row]:
            raise FormatError(
                f"{mentions.place}: an entity needs start, end and label; {dict(row)} has no {missing[0]}."
            )
        mention = row.get("text")
        if not isinstance(mention, (str, type(None))):
            raise FormatError(f"{mentions.place}: the text of an entity is {mention!r}, not a string.")
        found.append(mentions.check(row["start"], row["end"], row["label"], mention))
    return mentions.collect(found)


def make_docs(
    read: Callable[[Report], Iterable[Record]], make_doc: Callable[[str], Doc], report: Optional[Report]
) -> Iterator[Doc]:
    """Make Docs with the entities of records.

    read (Callable[[Report], Iterable[Record]]): Reads the records, and reports what it repairs or leaves out.
    make_doc (Callable[[str], Doc]): The tokenizer, such as `nlp.make_doc`.
    report (Optional[Report]): Collects what was repaired or left out. Without one, problems become warnings, one for
        each kind, after the last Doc.
    """
    problems = Report() if report is None else report
    for record in read(problems):
        problems.n_texts += 1
        problems.n_characters += len(record.text)
        yield add_entities(make_doc(record.text), record, problems)
    if report is None:
        warn_of_problems(problems)


def warn_of_problems(report: Report) -> None:
    """Issue one warning for each kind of problem."""
    for line in report.describe():
        warnings.warn(line, UserWarning, stacklevel=3)
