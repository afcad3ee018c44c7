import json
import re

import pytest

from spacy_lexner.formats.json_text import check_text, dumps, parse, read_list, read_objects
from spacy_lexner.formats.record import FormatError, ReadOptions
from spacy_lexner.formats.report import Report
from spacy_lexner.formats.source import Source


def test_objects_with_their_places(tmp_path):
    (tmp_path / "file").write_text('{"a": 1}\n\n{"a": 2}\n', "utf8")
    found = list(read_objects(Source(tmp_path / "file"), ReadOptions(), Report(), "{}"))
    assert [(place.rsplit(":", 1)[1], data) for place, data in found] == [("1", {"a": 1}), ("3", {"a": 2})]


def test_a_list_of_objects(tmp_path):
    (tmp_path / "file").write_text('\n [{"a": 1},\n{"a": 2}]', "utf8")
    found = list(read_objects(Source(tmp_path / "file"), ReadOptions(), Report(), "{}"))
    assert [(place.rsplit(": ", 1)[1], data) for place, data in found] == [("item 1", {"a": 1}), ("item 2", {"a": 2})]


@pytest.mark.parametrize(
    "text, message",
    [
        ("\n", "no text"),
        ("[]", "no text"),
        ("3", "file:1: expected an object"),
        ("[3]", "file: item 1: expected an object"),
        ("{", "not JSON"),
    ],
)
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


LIST = ' [ {"a": "中\\u6587, ]"} ,\r\n[1, [2]], 12.5e3,\t-0, "x\\\\", "\\"" , null,true, {}\n] \n'


@pytest.fixture(params=[1, 2, 3, 5, 8, 13, 1 << 20])
def read_in_chunks(request, tmp_path, monkeypatch):
    for module in ("source", "json_text"):
        monkeypatch.setattr(f"spacy_lexner.formats.{module}.CHUNK", request.param)

    def read(text):
        (tmp_path / "file").write_bytes(text.encode())
        return read_list(Source(tmp_path / "file"), ReadOptions(), Report(), "[]")

    return read


def test_lists(read_in_chunks):
    assert list(read_in_chunks(LIST)) == json.loads(LIST)
    assert list(read_in_chunks(" [ ] ")) == []
    many = [{"n": i, "text": "南" * (i % 7)} for i in range(200)]
    assert list(read_in_chunks(json.dumps(many))) == many


@pytest.mark.parametrize(
    "text, n_items, message",
    [
        ('{"a": 1}', 0, "expected a list"),
        ("[1, 2] 3", 2, "more text after the list"),
        ("[1 2]", 1, "item 2: not JSON"),
        ("[10, 20", 1, "item 2: not JSON (expected a comma or the end of the list: line 1 column 5 (char 4))"),
        ("[10, nul]", 1, "item 2: not JSON (Expecting value: line 1 column 3 (char 2))"),
        ("[1, 2, ]", 2, "item 3: not JSON"),
        ("", 0, "item 1: not JSON"),
    ],
)
def test_errors_in_lists(read_in_chunks, text, n_items, message):
    found = []
    with pytest.raises(FormatError, match=re.escape(message)):
        for item in read_in_chunks(text):
            found.append(item)
    assert len(found) == n_items


def test_json():
    assert dumps({"a": "中😀\u2028"}) == '{"a": "中😀\u2028"}' and parse(dumps([1]), "x", "") == [1]
