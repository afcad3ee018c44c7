import pytest

from spacy_lexner.formats.json_text import check_text, dumps, parse, read_objects
from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source


def test_objects_with_their_places(tmp_path):
    (tmp_path / "file").write_text('{"a": 1}\n\n{"a": 2}\n', "utf8")
    found = list(read_objects(Source(tmp_path / "file"), ReadOptions(), Report(), "{}"))
    assert [(place.rsplit(":", 1)[1], data) for place, data in found] == [("1", {"a": 1}), ("3", {"a": 2})]


@pytest.mark.parametrize("text, message", [("\n", "no text"), ("3", "file:1: expected an object"), ("{", "not JSON")])
def test_errors(tmp_path, text, message):
    (tmp_path / "file").write_text(text, "utf8")
    with pytest.raises(FormatError, match=message):
        list(read_objects(Source(tmp_path / "file"), ReadOptions(), Report(), "{}"))


def test_texts():
    report = Report()
    assert check_text("中\ufffd", "file:1", ReadOptions(), report, "{}") == "中\ufffd"
    assert check_text("中\ud83d", "file:2", ReadOptions(repair=True), report, "{}") == "中\ufffd"
    assert len(report.problems) == 2
    with pytest.raises(FormatError, match="lone surrogate"):
        check_text("中\ud83d", "file:2", ReadOptions(), report, "{}")
    with pytest.raises(FormatError, match='file:3: expected an object with a string "text"'):
        check_text(3, "file:3", ReadOptions(), report, "{}")


def test_json():
    assert dumps({"a": "中😀\u2028"}) == '{"a": "中😀\u2028"}' and parse(dumps([1]), "x", "") == [1]
