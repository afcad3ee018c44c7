import io
from pathlib import Path

import pytest
import spacy
import typer
from spacy.tokens import DocBin

from spacy_lexner.cli.shared import check_apart, failing, load_named, load_pipeline, read_texts, status
from spacy_lexner.formats.record import FormatError


def test_names(tmp_path):
    assert [name for name, _ in load_named(["blank:zh", "a=blank:zh", "b=c=blank:zh"])] == ["blank:zh", "a", "b=c"]
    (tmp_path / "size=1").mkdir()
    spacy.blank("zh").to_disk(tmp_path / "size=1" / "model-best")
    assert [name for name, _ in load_named([str(tmp_path / "size=1" / "model-best")])] == ["size=1"]


@pytest.mark.parametrize("models, message", [(["x=blank:zh", "x=blank:en"], "the name 'x'"), (["x"], "no pipeline x")])
def test_wrong_names_are_told_before_a_pipeline_is_loaded(models, message):
    with pytest.raises((ValueError, OSError), match=message):
        load_named(["blank:zh", *models])


def test_no_pipeline(tmp_path):
    with pytest.raises(OSError, match="no_such_model"):
        load_pipeline("no_such_model")
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京"])
    nlp.to_disk(tmp_path)
    (tmp_path / "lex_matcher" / "cfg").write_text("{}", "utf8")
    with pytest.raises(ValueError, match=r"pipeline .* cannot be loaded \(SealError: .*cfg: 2 bytes"):
        load_pipeline(str(tmp_path))


@pytest.fixture
def folder(tmp_path):
    nlp = spacy.blank("zh")
    DocBin(docs=[nlp("一二"), nlp("三")]).to_disk(tmp_path / "a.spacy")
    (tmp_path / "b.txt").write_text("四 O\n\n五\n")
    (tmp_path / "c.conll").write_text("六 O\n七 B-X\n\n八 O\n")
    return tmp_path


def test_every_kind_of_file(folder):
    assert list(read_texts([folder])) == ["一二", "三", "四 O", "五", "六七", "八"]
    assert list(read_texts([folder / "c.conll", folder / "a.spacy"])) == ["六七", "八", "一二", "三"]
    assert list(read_texts([folder / "c.conll"], "text")) == ["六 O", "七 B-X", "八 O"]


def test_a_capital_suffix(tmp_path):
    (tmp_path / "NEWS.TXT").write_text("四 O\n", "utf8")
    assert list(read_texts([tmp_path / "NEWS.TXT"])) == ["四 O"]


def test_no_text(tmp_path):
    (tmp_path / "a.txt").write_text(" \n\n")
    with pytest.raises(FormatError, match=r"No text in .*a\.txt"):
        list(read_texts([tmp_path / "a.txt"]))
    with pytest.raises(FileNotFoundError):
        list(read_texts([tmp_path / "none"]))


@pytest.mark.parametrize("error", [ValueError("no such word"), OSError("no such file"), ImportError("no such module")])
def test_what_is_wrong_ends_the_command(error, capsys):
    with pytest.raises(typer.Exit) as ended, failing("Nothing was done", code=2):
        raise error
    assert ended.value.exit_code == 2 and "no such" in capsys.readouterr().out
    with pytest.raises(KeyError), failing("Nothing was done"):
        raise KeyError


@pytest.mark.parametrize("terminal", [True, False])
def test_what_takes_its_time_is_said_in_a_terminal(monkeypatch, terminal):
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    monkeypatch.setattr("sys.stderr", stream)
    with status("reading all of it"):
        assert ("reading all of it …" in stream.getvalue()) == terminal
    assert stream.getvalue().rpartition("\r")[2].strip() == ""


def test_output_in_a_folder_that_is_read(tmp_path, monkeypatch):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("一", "utf8")
    monkeypatch.chdir(tmp_path)
    for output in (tmp_path / "texts" / "out" / "run", Path("texts") / ".." / "texts", tmp_path / "texts"):
        with pytest.raises(ValueError, match="is in texts, all files of which are read"):
            check_apart(output, [Path("texts")])
    check_apart(tmp_path / "out", [Path("texts"), Path("texts/a.txt"), Path("none")])
    check_apart(tmp_path / "texts" / "out", [Path("texts/a.txt")])
