import json
from xml.etree import ElementTree

import pytest

from spacy_lexner.formats.label_studio import make_config, read_label_studio, write_label_studio
from spacy_lexner.formats.record import Entity, FormatError, ReadOptions, Record
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.formats.task import Task


@pytest.fixture
def read(tmp_path):
    def read(tasks, report=None, **options):
        text = tasks if isinstance(tasks, str) else json.dumps(tasks)
        (tmp_path / "file").write_text(text, encoding="utf-8")
        return list(read_label_studio(Source(tmp_path / "file"), ReadOptions(**options), report or Report()))

    return read


def region(start, end, *labels, text=None, type="labels"):
    value = {"start": start, "end": end, "labels": list(labels)}
    return {"type": type, "value": value if text is None else {**value, "text": text}}


def task(text, *annotations, **more):
    return {"data": {"text": text}, "annotations": [{"result": list(result)} for result in annotations], **more}


def test_places_count_code_points(read):
    [record] = read([task("💩在南京", [region(2, 4, "GPE", "LOC", text="南京")])])
    assert record.entities == [Entity(2, 4, "GPE"), Entity(2, 4, "LOC")]


def test_old_versions_counted_utf_16_units(read):
    """The example of Label Studio's issue 1347."""
    report = Report()
    [record] = read([task("💩This is an annotation.", [region(13, 23, "A", text="annotation")])], report)
    assert record.entities == [Entity(12, 22, "A")]
    assert list(report.problems) == ["entity with offsets that count utf-16: read accordingly"]


def test_json_min(read):
    regions = [region(0, 2, "GPE", text="南京")["value"]]
    [record, other] = read([{"id": 1, "text": "南京", "label": regions, "annotator": 1}, {"id": 2, "text": "无"}])
    assert record.entities == [Entity(0, 2, "GPE")] and other.entities == []


def test_which_annotation(read):
    report = Report()
    several = task("南京", [region(0, 2, "A")], [region(0, 2, "B")], [region(0, 2, "C")])
    several["annotations"][0]["was_cancelled"] = True
    [record] = read([several], report)
    assert record.entities == [Entity(0, 2, "B")]
    several["annotations"][2]["ground_truth"] = True
    [record] = read([several], report)
    assert record.entities == [Entity(0, 2, "C")] and report.problems.total() == 2


def test_texts_without_annotation(read):
    report = Report()
    predicted = task("南京", predictions=[{"result": [region(0, 2, "A")]}])
    assert [record.entities for record in read([task("南京"), predicted, task("无", [])], report)] == [None, None, []]
    assert list(report.problems) == ["task with predictions only: read without annotation"]


def test_what_cannot_be_read_is_counted(read):
    report = Report()
    result = [{"type": "relation"}, {"type": "choices", "value": {"choices": ["A"]}}, region(0, 1)]
    [record] = read([task("南京", result)], report)
    assert record.entities == []
    assert [kind.split(":")[0] for kind in report.problems] == [
        "annotation of the type 'relation'", "annotation of the type 'choices'", "region without a label"
    ]  # fmt: skip


def test_a_text_of_another_name(read):
    [record] = read([{"data": {"sentence": "南京", "id": 3}}])
    assert record.text == "南京"


@pytest.mark.parametrize(
    "tasks, message",
    [
        ("[", "not JSON"),
        ({}, "expected a list of objects"),
        ([], "the file has no text"),
        ([3], "task 1: expected an object"),
        ([{"data": {"a": "x", "b": "y"}}], "which of the fields 'a', 'b' is the text"),
        ([{"data": []}], 'a string "text"'),
        ([{"text": "南京", "label": [[0, 2, "GPE"]]}], r'task 1: "label" is .* not a list of regions.*--format'),
        ([{"text": "南京", "labels": {"GPE": {"南京": [[0, 1]]}}}], '"labels" is .* not a list of regions'),
        ([{"text": "南京", "entities": [{"start": 0, "end": 2, "label": "X"}]}], '"entities" is .* not a list of reg'),
        ([{"text": "南京", "spans": "X"}], "\"spans\" is 'X', not a list of regions"),
        ([{"data": {"text": "x"}, "annotations": 3}], "should be a list of objects"),
        ([task("南京", [region("/p[1]", "/p[1]", "A")])], "is a position in HTML"),
        ([task("南京", [region(0, 1, "A", text="京")])], "task 1: A '京' is not at 0, 1: there is '南'"),
        ([task("南京", [{"type": "labels", "value": {"start": 0, "end": 1, "labels": "A"}}])], "a list of labels"),
    ],
)
def test_errors(read, tasks, message):
    with pytest.raises(FormatError, match=message):
        read(tasks)


def test_writing_a_persons_and_a_models_entities():
    report = Report()
    record = Record("😀南京", None, [Entity(1, 3, "GPE")], "here")
    tasks = [
        Task(record, [0.5], notes={"margin": 0.1}),
        Task(record, [0.5], predicted=True),
        Task(record._replace(entities=None)),
    ]
    person, model, nobody = json.loads("".join(write_label_studio(tasks, report)))
    assert person["data"] == {"text": "😀南京", "margin": 0.1}
    [result] = person["annotations"][0]["result"]
    assert result["value"] == {"start": 1, "end": 3, "text": "南京", "labels": ["GPE"]} and result["score"] == 0.5
    assert "annotations" not in model and model["predictions"][0]["score"] == 0.5
    assert nobody == {"data": {"text": "😀南京"}} and not report.problems


def test_no_texts():
    assert json.loads("".join(write_label_studio([], Report()))) == []


def test_a_note_that_would_hide_the_text():
    report = Report()
    [task] = json.loads("".join(write_label_studio([Task(Record("南京", None, None, "x"), notes={"text": 3})], report)))
    assert task["data"] == {"text": "南京"} and list(report.problems) == [
        "note 'text': left out, since that is the name of the text"
    ]


def test_configuration():
    view = ElementTree.fromstring(make_config([('A<b>&"', "#fff"), ("地点", "#000")]))
    assert [label.get("value") for label in view.iter("Label")] == ['A<b>&"', "地点"]
    assert view.find("Text").get("value") == "$text"
