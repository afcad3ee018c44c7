import os

import pytest

from spacy_lexner.integrity.json_files import read_json, read_jsonl, write_json, write_jsonl

ROWS = [{"word": "南京市", "probability": 0.1 + 0.2}, {"word": "a\u2028b", "probability": 1e-9}]


def test_round_trips(tmp_path):
    write_json(tmp_path / "new" / "one.json", ROWS)
    assert read_json(tmp_path / "new" / "one.json") == ROWS
    write_jsonl(tmp_path / "rows.jsonl", iter(ROWS))
    assert read_jsonl(tmp_path / "rows.jsonl") == ROWS
    assert "南京市" in (tmp_path / "rows.jsonl").read_text("utf8")
    write_jsonl(tmp_path / "rows.jsonl", [])
    assert read_jsonl(tmp_path / "rows.jsonl") == []


def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    file = tmp_path / "one.json"
    write_json(file, 1)

    def interrupted(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_json(file, 2)
    assert read_json(file) == 1 and list(tmp_path.iterdir()) == [file]


def test_a_value_that_is_not_json_changes_nothing(tmp_path):
    file = tmp_path / "one.jsonl"
    write_jsonl(file, [1])
    with pytest.raises(TypeError):
        write_jsonl(file, [2, object()])
    assert read_jsonl(file) == [1]


@pytest.mark.parametrize("content", [b"", b'{"hash": "12', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_file_is_named(tmp_path, content):
    file = tmp_path / "run" / "one.json"
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"one\.json: not JSON, or damaged .* delete .*run to start again"):
        read_json(file)


def test_a_damaged_line_is_named(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"a": 1}\n{"a": ')
    with pytest.raises(ValueError, match=r"rows\.jsonl, line 2: not JSON"):
        read_jsonl(file)
