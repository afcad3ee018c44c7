import os
import subprocess
import sys

import pytest

from spacy_lexner.serve.dictionary import state as module
from spacy_lexner.serve.dictionary.errors import StateError
from spacy_lexner.serve.dictionary.journal import dump_record
from spacy_lexner.serve.dictionary.state import StateDirectory


def record(number):
    return {"number": number}


def fill(path, numbers):
    directory = StateDirectory(path)
    for number in numbers:
        directory.append(record(number))
    directory.close()


def contents(path):
    directory = StateDirectory(path)
    directory.close()
    return directory.snapshot.get("words"), [one["number"] for one in directory.records]


def test_records_survive(tmp_path):
    fill(tmp_path / "new" / "state", [1, 2])
    assert contents(tmp_path / "new" / "state") == (None, [1, 2])


def test_a_snapshot_stands_for_earlier_records(tmp_path):
    directory = StateDirectory(tmp_path)
    directory.append(record(1))
    directory.save_snapshot({"words": "长江"}, 1)
    directory.append(record(2))
    directory.close()
    assert contents(tmp_path) == ("长江", [2])


def test_a_crash_between_snapshot_and_journal_repeats_nothing(tmp_path):
    directory = StateDirectory(tmp_path)
    directory.append(record(1))
    directory.save_snapshot({"words": "长江"}, 1)
    directory.close()
    (tmp_path / "journal").write_bytes(dump_record(record(1)) + dump_record(record(2)))
    assert contents(tmp_path) == ("长江", [2])


def test_a_crash_while_a_snapshot_is_written_loses_nothing(tmp_path):
    fill(tmp_path, [1])
    (tmp_path / ".snapshot.json.new").write_text('{"format": "spacy-le')
    assert contents(tmp_path) == (None, [1])


def test_a_long_journal_is_time_for_a_snapshot(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_JOURNAL", len(dump_record(record(1))))
    directory = StateDirectory(tmp_path)
    directory.append(record(1))
    assert not directory.is_long
    directory.append(record(2))
    assert directory.is_long
    directory.save_snapshot({}, 2)
    assert not directory.is_long
    directory.close()


def test_one_process_at_a_time(tmp_path):
    directory = StateDirectory(tmp_path)
    with pytest.raises(StateError, match=rf"another service uses .* \(process {os.getpid()}\)"):
        StateDirectory(tmp_path)
    code = (
        "import sys; from pathlib import Path; from spacy_lexner.serve.dictionary.state import StateDirectory;"
        "StateDirectory(Path(sys.argv[1]))"
    )
    other = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)
    assert other.returncode == 1 and "another service uses this state directory" in other.stderr
    directory.close()
    StateDirectory(tmp_path).close()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "other", "version": 1}', '{"version": 1}'])
def test_a_damaged_snapshot_is_an_error_and_frees_the_lock(tmp_path, text):
    (tmp_path / "snapshot.json").write_text(text)
    for _ in range(2):
        with pytest.raises(StateError, match=r"snapshot.json is damaged"):
            StateDirectory(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="the state directory cannot be written"):
        StateDirectory(tmp_path / "file" / "state")
    (tmp_path / "state" / "journal").mkdir(parents=True)
    with pytest.raises(StateError, match="Is a directory"):
        StateDirectory(tmp_path / "state")
