import os
from shutil import copytree
from zipfile import ZipFile

import pytest

from spacy_lexner.training.run_inputs import SETTINGS, begin, list_files

OTHER = "another dictionary, other texts or other settings"


def start(folder, *parts):
    begin(folder, "dictionary", ["labels", "model"], parts)


def test_files_count_by_name_and_contents(tmp_path):
    folder, file = tmp_path / "texts", tmp_path / "two.txt"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "one.txt").write_text("南京", "utf8")
    file.write_text("ab", "utf8")
    with ZipFile(tmp_path / "three.zip", "w") as archive:
        archive.writestr("three.txt", "a")
    paths = [folder, file, tmp_path / "three.zip" / "three.txt", tmp_path / "none.txt"]
    found = list_files(paths)
    assert [name for name, _ in map(str.split, found)] == ["texts/inner/one.txt", "two.txt", "three.zip"]
    copytree(folder, tmp_path / "copy" / "texts")
    assert list_files([tmp_path / "copy" / "texts"]) == found[:1]
    times = file.stat()
    file.write_text("ba", "utf8")  # as long as before
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert list_files(paths)[0] == found[0] and list_files(paths)[1] != found[1]


def test_other_inputs_are_refused(tmp_path):
    words = ["南京", "小米"]
    out, dev = tmp_path / "out", tmp_path / "dev"
    dev.mkdir()
    (dev / "one.spacy").write_text("1", "utf8")
    start(out, words, dev, None)
    (out / "labels").mkdir()
    start(out, list(words), dev, None)
    with pytest.raises(ValueError, match=OTHER):
        start(out, words[:1], dev, None)
    (dev / "two.spacy").write_text("2", "utf8")
    with pytest.raises(ValueError, match=OTHER):
        start(out, words, dev, None)


def test_any_inputs_where_nothing_is_written_yet(tmp_path):
    (tmp_path / "lexicon").mkdir()  # which `training_config` writes
    (tmp_path / SETTINGS).write_text("damaged", "utf8")
    for part in (1, 2):
        start(tmp_path, part)
    (tmp_path / "labels").mkdir()
    with pytest.raises(ValueError, match=OTHER):
        start(tmp_path, 1)


def test_what_no_run_has_written_is_refused(tmp_path):
    (tmp_path / "model").mkdir()
    with pytest.raises(ValueError, match=f"holds model, but no {SETTINGS}.*Choose another folder"):
        start(tmp_path, 1)


def test_damaged_settings_are_named(tmp_path):
    start(tmp_path, 1)
    (tmp_path / "labels").mkdir()
    (tmp_path / SETTINGS).write_text('{"hash": ', "utf8")
    with pytest.raises(ValueError, match=f"{SETTINGS}: not JSON"):
        start(tmp_path, 1)
