import os
import subprocess
import sys

import pytest

from spacy_lexner.integrity import folders
from spacy_lexner.integrity.folders import whole_folder

# Writes a folder of two equal files repeatedly, reports when it starts, and is killed at some point.
WRITER = """
import sys
from pathlib import Path
from spacy_lexner.integrity.folders import whole_folder
for i in range(100000):
    with whole_folder(Path(sys.argv[1]), overwrite=True) as folder:
        (folder / "a").write_text(str(i) * 1000)
        (folder / "b").write_text(str(i) * 1000)
    if i == 0:
        print("ready", flush=True)
"""


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def write(target, text, **settings):
    with whole_folder(target, **settings) as folder:
        (folder / "a").write_text(text)


@pytest.fixture(params=["exchanged", "renamed"])
def way(request, monkeypatch):
    if request.param == "renamed":
        monkeypatch.setattr(folders, "_exchange", lambda first, second: False)


@pytest.mark.usefixtures("way")
def test_a_folder_is_written_and_replaced(tmp_path):
    write(tmp_path / "new" / "x", "1")
    with pytest.raises(ValueError, match="already exists"):
        write(tmp_path / "new" / "x", "2")
    write(tmp_path / "new" / "x", "3", overwrite=True)
    assert (tmp_path / "new" / "x" / "a").read_text() == "3" and left(tmp_path / "new") == ["x"]
    assert (tmp_path / "new" / "x").stat().st_mode & 0o777 == 0o755


def test_a_folder_that_is_read_is_not_replaced(tmp_path):
    write(tmp_path / "x" / "y", "1")
    for target in (tmp_path / "x", tmp_path / "x" / "y"):
        with pytest.raises(ValueError, match=r"cannot be replaced, since that would remove .*a, which is read"):
            write(target, "2", overwrite=True, inputs=[tmp_path / "x" / "y" / "a"])
    assert (tmp_path / "x" / "y" / "a").read_text() == "1" and left(tmp_path / "x") == ["y"]
    write(tmp_path / "x" / "y" / "z", "2", inputs=[tmp_path / "x" / "y"])


@pytest.mark.skipif(os.name != "posix", reason="links need no privilege")
@pytest.mark.usefixtures("way")
def test_a_link_stays_and_its_folder_is_replaced(tmp_path):
    write(tmp_path / "v1", "1")
    (tmp_path / "current").symlink_to("v1")
    write(tmp_path / "current", "2", overwrite=True)
    assert (tmp_path / "current").is_symlink() and (tmp_path / "v1" / "a").read_text() == "2"
    assert left(tmp_path) == ["current", "v1"]


@pytest.mark.usefixtures("way")
def test_a_file_is_not_replaced(tmp_path):
    (tmp_path / "x").write_text("1")
    with pytest.raises(ValueError, match=r"x is not a folder"):
        write(tmp_path / "x", "2", overwrite=True)
    assert (tmp_path / "x").read_text() == "1" and left(tmp_path) == ["x"]


@pytest.mark.usefixtures("way")
def test_a_failure_leaves_the_old_folder(tmp_path):
    write(tmp_path / "x", "1")
    with pytest.raises(KeyError), whole_folder(tmp_path / "x", overwrite=True) as folder:
        (folder / "a").write_text("half")
        raise KeyError
    assert (tmp_path / "x" / "a").read_text() == "1" and left(tmp_path) == ["x"]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    (tmp_path / ".x.abc.new").mkdir()
    (tmp_path / ".y.abc.new").mkdir()
    (tmp_path / ".x.v2.abc.old").mkdir()  # what is left of another folder, x.v2
    with whole_folder(tmp_path / "x") as mine:
        write(tmp_path / "x", "2")  # another writer, which must leave this one's files alone
        (mine / "a").write_text("1")
    assert left(tmp_path) == [".x.v2.abc.old", ".y.abc.new", "x"] and (tmp_path / "x" / "a").read_text() == "1"


def test_killed_between_two_renamings(tmp_path):
    (tmp_path / ".x.abc.old").mkdir()
    (tmp_path / ".x.abc.old" / "a").write_text("old")
    with pytest.raises(KeyError), whole_folder(tmp_path / "x"):
        raise KeyError
    assert left(tmp_path) == ["x"] and (tmp_path / "x" / "a").read_text() == "old"


@pytest.mark.skipif(os.name != "posix", reason="processes are killed by a signal")
def test_a_killed_writer_leaves_a_whole_folder(tmp_path):
    for delay in (0.0, 0.003, 0.01):
        with subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / "x"], stdout=subprocess.PIPE) as process:
            assert process.stdout.readline()
            try:
                process.wait(delay)
            except subprocess.TimeoutExpired:
                process.kill()
        first, second = ((tmp_path / "x" / name).read_text() for name in "ab")
        assert first == second
    write(tmp_path / "x", "1", overwrite=True)
    assert left(tmp_path) == ["x"]
