"""The exact characters of entities that do not end on token borders: `span._.lex_start`, `span._.lex_end`."""

from typing import Any, List, Tuple

import numpy as np
from spacy.tokens import Doc, Span

from ..candidates.unit_docs import covering
from ..candidates.user_data import reading
from .extensions import add_extension


def add_offset_extensions() -> None:
    """Add `span._.lex_start` and `span._.lex_end`, by default `start_char` and `end_char`."""
    add_extension(Span, "lex_start", getter=get_start)
    add_extension(Span, "lex_end", getter=get_end)


def get_start(span: Span) -> int:
    """The exact first character of a span."""
    return get_offsets(span)[0]


def get_end(span: Span) -> int:
    """One past the exact last character of a span."""
    return get_offsets(span)[1]


@reading("span._.lex_start")
def get_offsets(span: Span) -> Tuple[int, int]:
    """The exact characters of a span."""
    before, after = span.doc.user_data.get(_key(span), (0, 0))
    return span.start_char + before, span.end_char + after


def set_offsets(span: Span, start: int, end: int) -> None:
    """Store the exact characters of a span, relative to its own so that they survive `Doc.from_docs`."""
    moved = (start - span.start_char, end - span.end_char)
    if any(moved):
        span.doc.user_data[_key(span)] = moved
    else:
        span.doc.user_data.pop(_key(span), None)


def exact_spans(doc: Doc, unit_doc: Doc) -> List[Span]:
    """The entities of a Doc as spans of its unit Doc, by their exact characters."""
    if doc is unit_doc:
        return list(doc.ents)
    offsets = np.array([get_offsets(ent) for ent in doc.ents], "i8").reshape(-1, 2)
    places = zip(*(column.tolist() for column in covering(unit_doc, *offsets.T)))
    return [Span(unit_doc, start, end, label=ent.label) for ent, (start, end) in zip(doc.ents, places)]


def _key(span: Span) -> Any:
    return "._.", "lex_offsets", span.start_char, span.end_char
