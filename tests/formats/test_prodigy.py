import json

import pytest

from spacy_lexner.formats.prodigy import read_prodigy, write_prodigy
from spacy_lexner.formats.record import Entity, FormatError, ReadOptions, Record
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.formats.task import Task


@pytest.fixture
def read(tmp_path):
    def read(*lines, report=None):
        (tmp_path / "file").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        return list(read_prodigy(Source(tmp_path / "file"), ReadOptions(), report or Report()))

    return read


def span(start, end, label, **more):
    return {"start": start, "end": end, "label": label, **more}


def test_spans_count_code_points(read):
    [record] = read(
        {"text": "😀在南京", "spans": [span(2, 4, "GPE", text="南京"), span(2, 3, "X")], "answer": "accept"}
    )
    assert record.entities == [Entity(2, 3, "X"), Entity(2, 4, "GPE")] and record.words is None


def test_answers(read):
    report = Report()
    lines = [{"text": "南京", "spans": [span(0, 2, "GPE")], "answer": answer} for answer in ("reject", "ignore")]
    lines += [{"text": "南京", "answer": "accept"}, {"text": "南京"}, {"text": "南京", "spans": None}]
    records = read(*lines, {"text": "南京", "spans": []}, report=report)
    assert [record.entities for record in records] == [None, None, [], None, None, []]
    assert list(report.problems) == [
        f"text with the answer {a!r}: read without annotation" for a in ("reject", "ignore")
    ]


def test_tokens(read):
    tokens = [{"text": "my", "start": 0, "end": 2, "id": 0, "ws": True}, {"text": "ID", "start": 3, "end": 5, "id": 1}]
    [record] = read({"text": "my ID", "tokens": tokens})
    assert record.words == ("my", "ID") and record.spaces == (True, False) and not record.segmented
    report = Report()
    [record] = read({"text": "other", "tokens": tokens}, report=report)
    assert record.words is None and list(report.problems) == ["tokens that do not spell the text: left out"]


def test_what_cannot_be_read_is_counted(read):
    report = Report()
    read({"text": "南京", "spans": [], "relations": [{"head": 0}], "accept": ["A"], "ents": [3]}, report=report)
    assert list(report.problems) == [f"{name} of a text: left out" for name in ("relations", "accept", "ents")]


@pytest.mark.parametrize(
    "line, message",
    [
        ({"image": "x.png"}, 'a string "text"'),
        ({"text": "南京", "answer": "maybe"}, "the answer is 'maybe'"),
        ({"text": "南京", "spans": [3]}, '"spans" must be a list of objects'),
        ({"text": "南京", "spans": [span(0, 9, "GPE")]}, "not within the text of"),
        ({"text": "南京", "tokens": [{"text": "南"}]}, '"tokens" must be a list'),
    ],
)
def test_errors(read, line, message):
    with pytest.raises(FormatError, match=message):
        read(line)


def test_writing():
    report = Report()
    record = Record("我在南京", ("我", "在", "南", "京"), [Entity(2, 4, "GPE")], "here", (False,) * 4)
    task = Task(record, [0.5], predicted=True, notes={"margin": 0.1})
    [line] = map(json.loads, write_prodigy([task], report))
    assert line["tokens"][2] == {"text": "南", "start": 2, "end": 3, "id": 2, "ws": False}
    assert line["spans"] == [span(2, 4, "GPE", text="南京", token_start=2, token_end=3, score=0.5)]
    assert "answer" not in line and line["meta"] == {"margin": 0.1}
    [line] = map(json.loads, write_prodigy([task._replace(predicted=False)], report))
    assert line["answer"] == "accept" and not report.problems


def test_entities_across_tokens_are_counted():
    report = Report()
    record = Record("南京市", ("南", "京市"), [Entity(0, 2, "GPE")], "here")
    [line] = map(json.loads, write_prodigy([Task(record)], report))
    assert "token_start" not in line["spans"][0]
    assert list(report.problems) == ["entity not aligned with tokens: written without them"]


def test_empty_tokens_are_left_out(read):
    report = Report()
    tokens = [{"text": text, "start": 0, "end": len(text), "ws": False} for text in ("", "南京")]
    [record] = read({"text": "南京", "tokens": tokens}, report=report)
    assert record.words is None and list(report.problems) == ["tokens that do not spell the text: left out"]


def test_answers_about_single_spans_are_reported(read):
    report = Report()
    task = {"text": "南京", "spans": [span(0, 2, "GPE")], "answer": "accept"}
    records = read({**task, "_view_id": "ner_manual"}, {**task, "_view_id": "ner"}, report=report)
    assert [len(record.entities) for record in records] == [1, 1]
    assert report.describe() == [
        f"answer about the spans shown only: read as if the rest had no entities: 1 ({records[1].place})"
    ]
