"""The results file: read with a line cut off, and lines added."""

import pytest
import srsly
from study_results import Run, add_line, is_missing, read_results


def line(system, seed=0, f=0.5):
    return {"dataset": "weibo", "system": system, "seed": seed, "test": {"ents_f": f}}


def test_lines_are_added_and_read(tmp_path):
    path = tmp_path / "metrics" / "study.jsonl"
    assert read_results(path) == {}
    for each in (line("flat"), line("ner"), line("flat", seed=1)):
        add_line(path, each)
    assert read_results(path)[Run("weibo", "ner", 0)] == line("ner")
    assert list(srsly.read_jsonl(path)) == [line("flat"), line("ner"), line("flat", seed=1)]


def test_a_line_replaces_the_earlier_one_of_its_run(tmp_path):
    path = tmp_path / "study.jsonl"
    for each in (line("flat"), line("ner"), line("flat", f=0.25)):
        add_line(path, each)
    assert list(srsly.read_jsonl(path)) == [line("ner"), line("flat", f=0.25)]
    assert [each.name for each in tmp_path.iterdir()] == ["study.jsonl"]


@pytest.mark.parametrize("rest", [b'{"dataset":"weibo","te', '{"dataset":"北'.encode()[:-1], b"{", b"\0\0\0"])
def test_a_last_line_cut_off(tmp_path, capsys, rest):
    path = tmp_path / "study.jsonl"
    add_line(path, line("flat"))
    path.write_bytes(path.read_bytes() + rest)
    assert list(read_results(path)) == [Run("weibo", "flat", 0)]
    assert f"{path}: the last line is cut off" in capsys.readouterr().out
    add_line(path, line("ner"))
    assert list(srsly.read_jsonl(path)) == [line("flat"), line("ner")]


def test_a_last_line_without_its_end_of_line_is_whole(tmp_path, capsys):
    path = tmp_path / "study.jsonl"
    add_line(path, line("flat"))
    path.write_bytes(path.read_bytes()[:-1])
    add_line(path, line("ner"))
    assert len(read_results(path)) == 2 and not capsys.readouterr().out


def test_another_damaged_line_is_named(tmp_path, capsys):
    path = tmp_path / "study.jsonl"
    path.write_text('{"dataset":\n\n{"dataset":"weibo","system":"ner","seed":0}\n', "utf8")
    for attempt in (read_results, lambda path: add_line(path, line("flat"))):
        with pytest.raises(SystemExit):
            attempt(path)
        assert f"{path}, line 1 is not JSON" in capsys.readouterr().out


def test_missing_runs():
    assert is_missing(None, True) and is_missing({"test": {}}, False) and is_missing({"dev": {}}, False)
    assert not is_missing({"test": {}}, True) and not is_missing(line("flat"), False)


def test_the_recorded_studies_can_be_read(project_dir):
    for path in (project_dir.parent / "docs" / "runs").glob("*.jsonl"):
        assert len(read_results(path)) == len(list(srsly.read_jsonl(path)))
