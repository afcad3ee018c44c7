import json

import pytest

from spacy_lexner.formats.clue import read_clue
from spacy_lexner.formats.record import Entity, FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source


@pytest.fixture
def read(tmp_path):
    def read(*lines, report=None, **options):
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        (tmp_path / "file").write_text(text, encoding="utf-8")
        return list(read_clue(Source(tmp_path / "file"), ReadOptions(**options), report or Report()))

    return read


def test_ends_are_inclusive_and_mentions_may_repeat(read):
    label = {"name": {"叶老桂": [[0, 2], [5, 7]]}, "company": {"浙商": [[3, 4]]}}
    [record] = read({"text": "叶老桂浙商叶老桂", "label": label})
    assert record.text == "叶老桂浙商叶老桂" and record.words is None
    assert record.entities == [Entity(0, 3, "name"), Entity(3, 5, "company"), Entity(5, 8, "name")]


def test_lines_without_annotation(read):
    records = read({"id": 0, "text": "四川"}, "", {"text": "成都", "label": {}}, {"text": "", "label": None})
    assert [(record.text, record.entities) for record in records] == [("四川", None), ("成都", []), ("", None)]
    assert [record.place.rsplit(":")[-1] for record in records] == ["1", "3", "4"]


def test_overlaps_are_kept_and_repetitions_are_not(read):
    report = Report()
    label = {"book": {"招商银行报": [[0, 4]]}, "company": {"招商银行": [[0, 3], [0, 3]]}}
    [record] = read({"text": "招商银行报", "label": label}, report=report)
    assert record.entities == [Entity(0, 4, "company"), Entity(0, 5, "book")]
    assert [kind.split(":")[0] for kind in report.problems] == ["entity given twice"]


@pytest.mark.parametrize(
    "line, message",
    [
        ("{", "file:2: not JSON"),
        ("[" * 100_000, "file:2: .*the limit 'nesting' allows"),
        ("[]", "file:2: expected an object, such as"),
        ({"text": 3}, 'file:2: expected an object with a string "text"'),
        ({"text": "中", "label": []}, r"file:2: \[\] should be an object"),
        ({"text": "中", "label": {"x": ["中"]}}, r"file:2: \['中'\] should be an object"),
        ({"text": "中", "label": {"x": {"中": 0}}}, "the places of '中' must be a list"),
        ({"text": "中", "label": {"x": {"中": [0, 0]}}}, "the place 0 of '中' must be a pair"),
        ({"text": "中", "label": {"x": {"中": [[0, True]]}}}, "must be a pair of integers"),
        ({"text": "中", "label": {"": {"中": [[0, 0]]}}}, "an empty label or mention"),
        ({"text": "中国", "label": {"x": {"中国": [[0, 2]]}}}, r"'中国' is not at \[0, 2\]: there is '中国'. Ends"),
        ({"text": "中国", "label": {"x": {"中": [[1, 1]]}}}, r"'中' is not at \[1, 1\]: there is '国'"),
        ({"text": "中国", "label": {"x": {"国": [[-1, -1]]}}}, "'国' is not at"),
        ('{"text": "\\ud800"}', "file:2: a lone surrogate"),
    ],
)
def test_errors_name_file_and_line(read, line, message):
    with pytest.raises(FormatError, match=message):
        read({"text": "好"}, line)


@pytest.mark.parametrize("name", ["labels", "entities", "spans", "ents"])
def test_entities_under_another_name_are_not_lost(read, name):
    read({"text": "南京", name: []})
    with pytest.raises(FormatError, match=rf'file:1: "{name}" is not read as CLUE.*\(--format\)'):
        read({"text": "南京", name: [[0, 2, "GPE"]]})


def test_an_empty_file(read):
    with pytest.raises(FormatError, match="the file has no text"):
        read("")


def test_repair_is_counted(read):
    report = Report()
    records = read(
        {"text": "在中国", "label": {"x": {"中国": [[0, 1]]}}},
        {"text": "中国中国", "label": {"x": {"中国": [[1, 2]], "美国": [[9, 12]]}}},
        '{"text": "中\\ud800国", "label": {"x": {"国": [[2, 2]]}}}',
        report=report,
        repair=True,
    )
    assert [(record.text, record.entities) for record in records] == [
        ("在中国", [Entity(1, 3, "x")]),
        ("中国中国", []),
        ("中\ufffd国", [Entity(2, 3, "x")]),
    ]
    assert sorted(report.problems.values()) == [1, 1, 2]
