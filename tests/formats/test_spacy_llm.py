import json
import tempfile
from pathlib import Path

import pytest
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lexner.formats.detect import detect_format
from spacy_lexner.formats.read import read_records
from spacy_lexner.formats.record import Entity, FormatError, ReadOptions, Record
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source
from spacy_lexner.formats.spacy_llm import INEXACT, NOT_FOUND, read_spacy_llm
from spacy_lexner.formats.task import Task
from spacy_lexner.formats.write import write_tasks

TEXT = "北京大学在北京"
ORG, GPE = Entity(0, 4, "ORG"), Entity(5, 7, "GPE")
SHAPES = ["spacy-llm", "spacy-llm-v3"]
SUFFIXES = [".yml", ".yaml", ".json", ".jsonl"]


@pytest.fixture
def read(tmp_path):
    def read(*examples, report=None, **options):
        (tmp_path / "file").write_text(json.dumps(examples), encoding="utf-8")
        return list(read_spacy_llm(Source(tmp_path / "file"), ReadOptions(**options), report or Report()))

    return read


def write_and_read(records, format, suffix):
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"examples{suffix}"
        write_tasks([Task(record) for record in records], path, format, report)
        found = list(read_records(Source(path), "spacy-llm", ReadOptions(), Report())) if records else []
        return found, report


def span(text, label, is_entity=True):
    return {"text": text, "is_entity": is_entity, "label": label, "reason": "as in the manual"}


def test_every_occurrence_of_a_mention_is_an_entity(read):
    [record] = read({"text": TEXT, "entities": {"ORG": ["北京大学"], "GPE": ["北京", "北京"]}})
    assert record.entities == [Entity(0, 2, "GPE"), ORG, GPE], "as spacy-llm reads them, before overlaps are settled"


def test_spans_are_found_one_after_the_other(read):
    spans = [span("北京", "==NONE==", False), span("北京", "GPE")]
    assert read({"text": TEXT, "spans": spans})[0].entities == [GPE]
    assert read({"text": TEXT, "spans": [span("北京大学", "ORG"), span("北京", "GPE")]})[0].entities == [ORG, GPE]
    out_of_order = [span("在北京", "X"), span("北京大学", "ORG")]
    assert read({"text": TEXT, "spans": out_of_order})[0].entities == [ORG, Entity(4, 7, "X")]


def test_a_text_alone_is_not_annotated(read):
    assert [record.entities for record in read({"text": "南京"}, {"text": "南京", "entities": {}})] == [None, []]


def test_a_mention_that_does_not_occur(read):
    examples = [{"text": TEXT, "entities": {"GPE": ["南京", "北京"]}}, {"text": TEXT, "spans": [span("南京", "GPE")]}]
    for example in examples:
        with pytest.raises(FormatError, match=r"example 1: '南京' does not occur in '北京大学在北京'.*--repair"):
            read(example)
    report = Report()
    found = read(*examples, report=report, repair=True)
    assert [len(record.entities) for record in found] == [2, 0] and report.problems == {NOT_FOUND: 2}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files(tmp_path, suffix):
    """The four kinds of files that spacy.FewShotReader.v1 reads, here with srsly, as it does."""
    path = tmp_path / f"examples{suffix}"
    records = [Record(TEXT, None, [ORG, GPE], "here"), Record("到\u2028了😀", None, [], "here")]
    write_tasks(map(Task, records), path, "spacy-llm", Report())
    read = {".json": srsly.read_json, ".jsonl": srsly.read_jsonl}.get(suffix, srsly.read_yaml)
    assert list(read(path)) == [
        {"text": TEXT, "entities": {"ORG": ["北京大学"], "GPE": ["北京"]}},
        {"text": "到\u2028了😀", "entities": {}},
    ]
    assert detect_format(Source(path), ReadOptions()) == "spacy-llm"


def test_spans_with_reasons(tmp_path):
    write_tasks([Task(Record(TEXT, None, [GPE], "here"))], tmp_path / "x.jsonl", "spacy-llm-v3", Report())
    [line] = srsly.read_jsonl(tmp_path / "x.jsonl")
    assert [tuple(span.values()) for span in line["spans"]] == [
        ("北京", False, "==NONE==", "is no GPE here"),
        ("北京", True, "GPE", "is a GPE"),
    ]


@st.composite
def records(draw):
    """Short texts of few characters, so that mentions occur more than once, with entities that may overlap."""
    text = draw(st.text(st.sampled_from("南京a\n\u2028😀"), max_size=8))
    places = [(i, j) for i in range(len(text)) for j in range(i + 1, len(text) + 1) if text[i:j].strip()]
    entities = st.builds(lambda place, label: Entity(*place, label), st.sampled_from(places), st.sampled_from("XY"))
    return Record(text, None, sorted(set(draw(st.lists(entities, max_size=3)))) if places else [], "here")


@pytest.mark.parametrize("format", SHAPES)
@settings(max_examples=60)
@given(st.lists(records(), max_size=3), st.sampled_from(SUFFIXES))
def test_there_and_back_or_reported(format, given, suffix):
    found, report = write_and_read(given, format, suffix)
    assert [record.text for record in found] == [record.text for record in given]
    different = sum(back.entities != record.entities for back, record in zip(found, given))
    assert report.problems.get(INEXACT, 0) == different


@given(records())
def test_spans_are_exact_for_mentions_that_neither_overlap_nor_overlap_themselves(record):
    flat, end = [], 0
    for entity in record.entities:
        mention = record.text[entity.start : entity.end]
        if entity.start >= end and len(set(mention)) == len(mention):
            flat.append(entity)
            end = entity.end
    [back], report = write_and_read([record._replace(entities=flat)], "spacy-llm-v3", ".jsonl")
    assert back.entities == flat and not report.problems


def test_what_is_left_out_is_counted(tmp_path):
    report = Report()
    tasks = [Task(Record("南京", None, None, "here")), Task(Record("南京", None, [Entity(0, 2, "X")], "here"), [0.5])]
    write_tasks(tasks, tmp_path / "x.jsonl", "spacy-llm", report)
    assert len(list(srsly.read_jsonl(tmp_path / "x.jsonl"))) == 1
    assert [kind.split(":")[0] for kind in report.problems] == ["text without annotation", "notes and scores of a text"]
    with pytest.raises(FormatError, match=r"is '\.txt'; expected \.yml"):
        write_tasks(tasks, tmp_path / "x.txt", "spacy-llm", Report())


@pytest.mark.parametrize(
    "example, message",
    [
        (3, "expected an object"),
        ({"entities": {}}, 'a string "text"'),
        ({"text": "南京", "entities": []}, '"entities" should be lists of quoted texts by label'),
        ({"text": "南京", "entities": {"GPE": "南京"}}, '"entities" should be lists'),
        ({"text": "南京", "entities": {"GPE": [1]}}, '"entities" should be lists'),
        ({"text": "南京", "spans": [{"text": "南京"}]}, '"spans" should be objects'),
        ({"text": "南京", "spans": [span("南京", "GPE", "no")]}, "should be true or false"),
    ],
)
def test_errors(read, example, message):
    with pytest.raises(FormatError, match=message):
        read(example)


@pytest.mark.parametrize("text", ["[]", "text: 南京", "- text: [", '{"text": "南京"'])
def test_files_that_are_no_list_of_examples(tmp_path, text):
    (tmp_path / "x.yml").write_text(text, "utf8")
    with pytest.raises(FormatError, match=r"(?s)x\.yml.*xpected"):
        list(read_spacy_llm(Source(tmp_path / "x.yml"), ReadOptions(), Report()))
