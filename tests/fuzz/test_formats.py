"""Annotated files of each format, changed at random: read, made Docs, written, and read again, or a FormatError."""

import shutil
from itertools import islice
from pathlib import Path

import pytest
import spacy
from fuzzing import LONGEST, changed_bytes, changed_json, fuzz, only
from hypothesis import strategies as st

from spacy_lexner.formats.docs import add_entities, make_word_doc, read_doc
from spacy_lexner.formats.read import list_inputs, read_records
from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.task import Task
from spacy_lexner.formats.write import WRITERS, write_tasks
from spacy_lexner.scale.inputs import read_records as read_texts
from spacy_lexner.scale.records import InputOptions, Progress

LINES = {  # one JSON object on each line
    "clue": ['{"text": "浙商银行信贷部", "label": {"company": {"浙商银行": [[0, 3]]}}}', '{"text": "无", "label": {}}'],
    "doccano": [
        '{"text": "😀我在南京", "label": [[4, 6, "GPE"]], "Comments": []}',
        '{"data": "南京", "entities": [{"start_offset": 0, "end_offset": 2, "label": "GPE"}]}',
    ],
    "prodigy": [
        '{"text": "我在南京", "tokens": [{"text": "我在", "start": 0, "end": 2, "id": 0, "ws": false}, '
        '{"text": "南京", "start": 2, "end": 4, "id": 1, "ws": false}], '
        '"spans": [{"start": 2, "end": 4, "label": "GPE"}], "answer": "accept"}',
        '{"text": "无", "answer": "reject"}',
    ],
}
LISTS = {  # one JSON value in a file
    "label-studio": [
        '[{"data": {"text": "我在南京"}, "annotations": [{"was_cancelled": false, "ground_truth": true, "result": '
        '[{"type": "labels", "value": {"start": 2, "end": 4, "text": "南京", "labels": ["GPE"]}}]}]}]',
        '[{"text": "我在南京", "label": [{"start": 2, "end": 4, "text": "南京", "labels": ["GPE"]}], "id": 1}]',
    ],
    "spacy-llm": [
        '[{"text": "我在南京", "entities": {"GPE": ["南京"]}}]',
        '[{"text": "我在南京", "spans": [{"text": "南京", "is_entity": true, "label": "GPE", "reason": "is a GPE"}]}]',
    ],
}
TEXTS = {
    "conll": [
        "我 O\n在 O\n南 B-GPE\n京 I-GPE\n\n好 S-X\n",
        "我0\tO\n南0\tB-GPE\n京0\tE-GPE\n",
        "-DOCSTART- O\n\n南 B\n京 I\n",
    ],
    "word-tags": ["南 B-NOUN\n京 E-NOUN\n好 S-ADJ\n", "南 B\n京 E\n"],
    "word-text": ["我 在 南京\nHello world 好\n"],
    "conllu": [
        "# text = 我在南京\n1\t我\t_\tPRON\tPN\t_\t_\t_\t_\tSpaceAfter=No\n2-3\t在南京\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "2\t在\t_\tADP\tP\t_\t_\t_\t_\tSpaceAfter=No\n3\t南京\t_\tPROPN\tNR\t_\t_\t_\t_\t_\n3.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n"
    ],
    "spacy-llm": ["- text: 我在南京\n  entities:\n    GPE:\n    - 南京\n", LISTS["spacy-llm"][0]],
}
FORMATS = sorted({*LINES, *LISTS, *TEXTS, "brat"})
PLAIN = ReadOptions()
UTF_16 = ReadOptions(encoding="utf-16")
FOUND = {  # by format: what once failed otherwise
    "conll": [(b"a" * 9000 + "0\tE-GPE\n京0\tE-GPE\n".encode(), PLAIN, "brat")],
    "label-studio": [(LISTS["label-studio"][0].encode(), UTF_16, "brat")],  # no byte order mark
}


def encoded(texts):
    return [text.encode() for text in texts]


def files_of(format):
    """Files of a format, changed."""
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


def write_input(folder: Path, format, data):
    """A file, or a folder of brat's."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if format == "brat":
        (folder / "1.ann").write_bytes(data[0])
        (folder / "1.txt").write_bytes(data[1])
        return folder
    path = folder / ("input.yml" if format == "spacy-llm" and not data.lstrip().startswith((b"[", b"{")) else "input")
    path.write_bytes(data)
    return path


def read(path, format, options, report):
    [source] = list_inputs(path, format)
    return list(islice(read_records(source, format, options, report), 50))


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


TABLES = {
    "txt": ["我在南京\n\n好\n"],
    "jsonl": ['{"text": "我在南京", "id": 3}\n{"text": "好"}\n'],
    "csv": ['id,text\n1,我在南京\n2,"好,""的"\n'],
    "tsv": ["id\ttext\n1\t我在南京\n2\t好\n"],
}


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
