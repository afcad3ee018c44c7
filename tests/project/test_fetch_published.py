"""Fetching what the papers use: files in archives, web pages instead of files, files to download by hand."""

import io
import tarfile

import fetch_assets
import fetch_published
import pytest
import srsly
from fetch_published import check_vectors, main, unpack
from wasabi import msg

from spacy_lexner.lexicon import LexiconError

ROW = "南京 0.1 0.2\n"


def pack(path, files):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content.encode("utf8"))
            archive.addfile(info, io.BytesIO(content.encode("utf8")))


def test_the_largest_file_of_an_archive_is_taken_once(tmp_path):
    pack(tmp_path / "words.tar.gz", {"words/about.txt": "?", "words/../../words.txt": ROW * 9})
    assert unpack(tmp_path / "words.tar.gz").read_text("utf8") == ROW * 9
    (tmp_path / "words.txt").write_text("kept", "utf8")
    assert unpack(tmp_path / "words.tar.gz").read_text("utf8") == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["words.tar.gz", "words.txt"]


@pytest.mark.parametrize(
    "name, content", [("words.vec", "<!DOCTYPE html><html>"), ("words.tar.gz", "<html>"), ("words.vec", "")]
)
def test_a_page_in_place_of_vectors_is_named_and_kept_apart(tmp_path, name, content):
    (tmp_path / name).write_text(content, "utf8")
    with pytest.raises(LexiconError, match="refused is not a vector file"):
        check_vectors(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.refused"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with one vector file to download and one to fetch by hand. Neither exists yet."""
    root = tmp_path / "project"
    (root / "reproduce").mkdir(parents=True)
    assets = [{"dest": f"../assets/vectors/{name}", "description": f"where {name} is"} for name in ("a.vec", "b.vec")]
    assets[0]["url"] = "https://example.org/a.vec"
    srsly.write_yaml(root / "reproduce" / "project.yml", {"assets": assets})
    for module in (fetch_assets, fetch_published):
        monkeypatch.setattr(module, "PROJECT", root)
    monkeypatch.setattr(fetch_assets, "fetch_asset", lambda *args: None)
    monkeypatch.setattr(fetch_published.protect_texts, "main", lambda names, data_dir: msg.text(f"data sets {names}"))
    monkeypatch.setattr(fetch_published, "fetch_weights", lambda name: msg.text(f"weights {name}"))
    return root


def test_what_can_be_had_by_hand_only_may_be_missing(project, tmp_path, capsys):
    (tmp_path / "a.vec").write_text(ROW, "utf8")
    main("weibo", "some-bert", str(tmp_path))
    printed = capsys.readouterr().out
    assert "where b.vec is" in printed and "data sets weibo\nweights some-bert" in printed
    assert "its MD5 is" in printed and (project / "assets" / "vectors" / "a.vec").read_text("utf8") == ROW


def test_nothing_goes_on_without_the_rest(project, capsys):
    with pytest.raises(SystemExit):
        main("weibo", "some-bert")
    printed = capsys.readouterr().out
    assert "where a.vec is" in printed and "weights" not in printed


@pytest.mark.parametrize("checkpoint", ["null", "None", ""])
def test_a_checkpoint_is_named(project, checkpoint, capsys):
    with pytest.raises(SystemExit):
        main("weibo", checkpoint)
    assert "--vars.checkpoint bert-base-chinese" in capsys.readouterr().out


def test_weights_that_are_not_there(tmp_path, capsys):
    with pytest.raises(SystemExit):
        fetch_published.fetch_weights(str(tmp_path))
    assert "--vars.checkpoint bert-base-chinese" in capsys.readouterr().out
