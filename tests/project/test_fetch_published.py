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
    "name, content",
    [
        ("words.vec", "<!DOCTYPE html><html>"),
        ("words.tar.gz", "<html>"),
        ("words.vec", ""),
        ("words.vec", "3 2\n" + ROW * 2),
        ("words.vec", "1 2\n" + ROW * 2),
        ("words.vec", ROW * 2 + "大桥 0.1"),
        ("words.vec", "大"),
    ],
)
def test_what_is_no_complete_vector_file_is_named_and_kept_apart(tmp_path, name, content):
    (tmp_path / name).write_text(content, "utf8")
    with pytest.raises(LexiconError, match="refused is not a complete vector file"):
        check_vectors(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.refused"]


@pytest.mark.parametrize("content", ["2 2\n" + ROW * 2, ROW * 2, ROW + "大 桥 0.3 0.4", ROW * 2 + "\n"])
def test_complete_vector_files_stay(tmp_path, content):
    (tmp_path / "words.vec").write_text(content, "utf8")
    check_vectors(tmp_path / "words.vec")
    assert [path.name for path in tmp_path.iterdir()] == ["words.vec"]


def test_a_damaged_archive_leaves_no_part_of_itself(tmp_path):
    whole = tmp_path / "words.tar.gz"
    pack(whole, {"words.txt": "".join(f"{number} {number**9}\n" for number in range(20000))})
    whole.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(LexiconError, match="refused is not a complete vector file"):
        check_vectors(whole)
    assert [path.name for path in tmp_path.iterdir()] == ["words.tar.gz.refused"]


@pytest.mark.parametrize("with_archive", [False, True])
def test_an_invalid_unpacked_file_is_refused_and_its_archive_kept(tmp_path, with_archive):
    if with_archive:
        pack(tmp_path / "words.tar.gz", {"words.txt": ROW})
    (tmp_path / "words.txt").write_text("5 2\n" + ROW, "utf8")
    with pytest.raises(LexiconError, match=r"words.txt.refused is not a complete vector file: its header says 5"):
        check_vectors(tmp_path / "words.tar.gz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["words.tar.gz"] * with_archive + ["words.txt.refused"]


def test_a_full_disk_is_not_the_archive_s_fault(tmp_path, monkeypatch):
    def fail(source, file):
        raise OSError("No space left on device")

    pack(tmp_path / "words.tar.gz", {"words.txt": ROW})
    monkeypatch.setattr(fetch_published.shutil, "copyfileobj", fail)
    with pytest.raises(OSError, match="No space"):
        check_vectors(tmp_path / "words.tar.gz")
    assert [path.name for path in tmp_path.iterdir()] == ["words.tar.gz"]


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
    monkeypatch.setattr(fetch_assets, "download_file", lambda url, path, force: path.touch())
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


def test_truncated_vectors_are_not_used(project, tmp_path, capsys):
    (tmp_path / "a.vec").write_text("9 2\n" + ROW, "utf8")
    with pytest.raises(SystemExit):
        main("weibo", "some-bert", str(tmp_path))
    printed = capsys.readouterr().out
    assert "a.vec.refused" in printed and "Run the command again" in printed


@pytest.mark.parametrize("name", ["typo", "file"])
def test_a_folder_to_copy_from_exists(project, tmp_path, name, capsys):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit):
        main("weibo", "some-bert", str(tmp_path / name))
    printed = capsys.readouterr().out
    assert str(tmp_path / name) in printed and "--vars.data_dir FOLDER" in printed


@pytest.mark.parametrize("checkpoint", ["null", "None", ""])
def test_a_checkpoint_is_named(project, checkpoint, capsys):
    with pytest.raises(SystemExit):
        main("weibo", checkpoint)
    assert "--vars.checkpoint bert-base-chinese" in capsys.readouterr().out


def test_weights_that_are_not_there(tmp_path, capsys):
    with pytest.raises(SystemExit):
        fetch_published.fetch_weights(str(tmp_path))
    assert "--vars.checkpoint bert-base-chinese" in capsys.readouterr().out
