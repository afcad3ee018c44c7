"""Converting records to spaCy Docs, and Docs to records."""

from typing import Optional, Sequence

from spacy.tokens import Doc, Span
from spacy.util import filter_spans
from spacy.vocab import Vocab

from ..lexicon.limits import quote, shorten
from ..pipeline.exact_offsets import get_offsets
from .record import Entity, FormatError, Record
from .report import Report

BLANK = "entity of white space: left out"
WHITE_EDGE = "entity with white space at its edge: trimmed"
MISALIGNED = "entity not aligned with tokens: left out"
PARTIAL = "partly annotated text: written as if the rest had no entities"


def make_word_doc(record: Record, vocab: Vocab) -> Doc:
    """Make a Doc of a record's words and parts of speech, without entities. Raises FormatError if it has no words."""
    if record.words is None:
        raise FormatError(f"{record.place}: the file does not split its texts into words. Use a tokenizer (char).")
    spaces = [False] * len(record.words) if record.spaces is None else list(record.spaces)
    pos, tags = (None if column is None else list(column) for column in (record.pos, record.tags))
    return Doc(vocab, words=list(record.words), spaces=spaces, pos=pos, tags=tags)


def add_entities(doc: Doc, record: Record, report: Report, *, spans_key: Optional[str] = None) -> Doc:
    """Set a record's entities on a Doc of its text, in any tokenization. If the record is unannotated, so is the Doc.

    doc (Doc): The Doc.
    record (Record): The record.
    report (Report): Counts the entities of each label, those not aligned with tokens, and those that overlap others, of
        which `doc.ents` keeps the longest (the first of equally long ones).
    spans_key (Optional[str]): Also store all entities, including overlapping ones, in `doc.spans` under this key.
    RETURNS (Doc): The same Doc.
    """
    if record.entities is None:
        return doc
    spans = [span for entity in record.entities if (span := _make_span(doc, entity, record, report)) is not None]
    kept = filter_spans(spans)
    chosen = {(span.start, span.end, span.label) for span in kept}
    for span in spans:
        if (span.start, span.end, span.label) not in chosen:
            where = f"only in the spans {spans_key!r}" if spans_key else "left out"
            report.add_problem(f"entity that overlaps another one: {where}", _describe(record, span.label_, span.text))
    doc.set_ents(kept)
    report.labels.update(span.label_ for span in kept)
    report.n_inside += sum(span.end_char - span.start_char for span in kept)
    if spans_key:
        doc.spans[spans_key] = spans
    return doc


def read_doc(doc: Doc, place: str, report: Report, *, spans_key: Optional[str] = None) -> Record:
    """Make a record of a Doc.

    doc (Doc): The Doc.
    place (str): Its place, for the report.
    report (Report): Collects what a record cannot express.
    spans_key (Optional[str]): Use these spans of the Doc, which may overlap, instead of its entities.
    RETURNS (Record): The record, with the exact characters of entities; these are None if the Doc is unannotated.
    """
    spans: Optional[Sequence[Span]] = list(doc.ents) if doc.has_annotation("ENT_IOB") else None
    if spans_key is not None:
        spans = list(doc.spans[spans_key]) if spans_key in doc.spans else None
    elif spans is not None and not doc.has_annotation("ENT_IOB", require_complete=True):
        report.add_problem(PARTIAL, place)
    for span in spans or ():
        if span.kb_id_:
            report.add_problem(
                "entity with a knowledge base id: written without it", f"{place}: {shorten(span.kb_id_)}"
            )
    if spans_key is None:
        found = {Entity(*get_offsets(ent), ent.label_) for ent in spans or ()}
    else:
        found = {Entity(span.start_char, span.end_char, span.label_) for span in spans or ()}
    entities = None if spans is None else sorted(found)
    pos = tuple(token.pos_ for token in doc) if doc.has_annotation("POS") else None
    tags = tuple(token.tag_ for token in doc) if doc.has_annotation("TAG") else None
    words, spaces = tuple(token.text for token in doc), tuple(bool(token.whitespace_) for token in doc)
    return Record(doc.text, words, entities, place, spaces, pos=pos, tags=tags)


def _make_span(doc: Doc, entity: Entity, record: Record, report: Report) -> Optional[Span]:
    start, end, label = entity
    text = record.text[start:end]
    description = _describe(record, label, text)
    if not text.strip():
        report.add_problem(BLANK, description)
        return None
    if text != text.strip():
        report.add_problem(WHITE_EDGE, description)
        start, end = start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
    span = doc.char_span(start, end, label=label)
    if span is None:
        report.add_problem(MISALIGNED, description)
    return span


def _describe(record: Record, label: str, text: str) -> str:
    return f"{record.place}: {shorten(label)} {quote(text)}"
