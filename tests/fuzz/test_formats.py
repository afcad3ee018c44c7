"""Randomly mutated files of each format: read, converted to Docs, written and read again, or a FormatError."""

import shutil

import pytest
import spacy
from fuzzing import LONGEST, changed_bytes, changed_json, fuzz, only
from hypothesis import strategies as st
from samples import LINES, LISTS, TABLES, TEXTS, read, write_input

from spacy_lexner.formats.docs import add_entities, make_word_doc, read_doc
from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.task import Task
from spacy_lexner.formats.write import WRITERS, write_tasks
from spacy_lexner.scale.inputs import read_records as read_texts
from spacy_lexner.scale.records import InputOptions, Progress

FORMATS = sorted({*LINES, *LISTS, *TEXTS, "brat"})
PLAIN = ReadOptions()
UTF_16 = ReadOptions(encoding="utf-16")
HALF = rb"\ud800"  # of a character, as JSON writes it
FOUND = {  # by format: inputs that once failed in other ways
    "clue": [(LINES["clue"][0].encode().replace(b"company", HALF), PLAIN, "brat")],
    "conll": [(b"a" * 9000 + "0\tE-GPE\n京0\tE-GPE\n".encode(), PLAIN, "brat")],
    "doccano": [(LINES["doccano"][0].encode().replace(b"GPE", HALF), PLAIN, "brat")],
    "label-studio": [
        (LISTS["label-studio"][0].encode(), UTF_16, "brat"),  # no byte order mark
        (LISTS["label-studio"][0].encode().replace(b"GPE", HALF), PLAIN, "brat"),
    ],
    "prodigy": [(LINES["prodigy"][0].encode().replace(b"GPE", HALF), PLAIN, "brat")],
    "spacy-llm": [(b'{"text": "ab", "entities": {"X": ["%s"]}}' % HALF, ReadOptions(repair=True), "brat")],
}


def encoded(texts):
    return [text.encode() for text in texts]


def files_of(format):
    """Mutated files of a format."""
    if format == "brat":
        ann = "T1\tGPE 2 4\t南京\nT2\tX 0 1;2 3\t我 南\nR1\tR Arg1:T1\n#1\tAnnotatorNotes T1\tx\n"
        return st.tuples(changed_bytes([ann.encode()]), changed_bytes(["我在南京".encode()]))
    if format == "auto":
        return st.sampled_from(FORMATS).filter("brat".__ne__).flatmap(files_of)
    texts = [*LINES.get(format, ()), *LISTS.get(format, ()), *TEXTS.get(format, ())]
    kinds = [changed_bytes(encoded(["\n".join(LINES[format])] if format in LINES else texts))]
    if format in LINES:
        kinds.append(changed_json(encoded(["\n".join(LINES[format])]), by_lines=True))
    if format in LISTS:
        kinds.append(changed_json(encoded(LISTS[format]), by_lines=False))
    return st.one_of(kinds)


def options():
    return st.just(PLAIN) | st.builds(
        ReadOptions,
        encoding=st.sampled_from(["utf-8", "gb18030", "utf-16", "latin-1"]),
        errors=st.sampled_from(["strict", "replace"]),
        repair=st.booleans(),
        scheme=st.sampled_from(["auto", "bio", "bioes"]),
        digit_suffix=st.sampled_from(["auto", "yes", "no"]),
        space_symbol=st.sampled_from(["", "␣"]),
        offsets=st.sampled_from(["auto", "utf-16", "graphemes"]),
    )


@pytest.mark.parametrize("format", [*FORMATS, "auto"])
def test_format(format, tmp_path):
    nlp = spacy.blank("zh")

    def check(drawn):
        data, options, target = drawn
        report = Report()
        records = []
        with only(FormatError):
            records = read(write_input(tmp_path / "in", format, data), format, options, report)
        for record in records:
            check_record(record)
            docs = [add_entities(nlp.make_doc(record.text), record, report, spans_key="all")] if record.text else []
            if record.words:
                docs.append(make_word_doc(record, nlp.vocab))
            for doc in docs:
                assert doc.text.rstrip() == record.text.rstrip()
                read_doc(doc, record.place, report)
        for line in report.describe():
            line.encode("utf8")
            assert len(line) < 3 * LONGEST  # it has several places
        if records:
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
            with only(FormatError):
                write_tasks(map(Task, records), tmp_path / "out" / "new.jsonl", target, Report())

    fuzz(check, st.tuples(files_of(format), options(), st.sampled_from(sorted(WRITERS))), FOUND.get(format, ()))


def check_record(record):
    """What every reader promises."""
    record.text.encode("utf8")
    if record.words is not None:
        spaces = record.spaces or [False] * len(record.words)
        assert len(spaces) == len(record.words)
        spelt = "".join(word + " " * space for word, space in zip(record.words, spaces))
        assert spelt.rstrip(" ") == record.text.rstrip(" ") and all(record.words)
    for start, end, label in record.entities or ():
        assert 0 <= start < end <= len(record.text) and isinstance(label, str) and label


@pytest.mark.parametrize("suffix", sorted(TABLES))
def test_texts_to_annotate(suffix, tmp_path):
    path = tmp_path / f"input.{suffix}"

    def check(data):
        path.write_bytes(data)
        with only(FormatError):
            names = [str(path)]
            for record in read_texts(names, InputOptions(), Progress(names)):
                record.text.encode("utf8", "strict" if not record.fault else "surrogatepass")

    fuzz(check, changed_bytes(encoded(TABLES[suffix])))
