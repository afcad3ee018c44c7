import os
import random
import signal
import subprocess
import sys
import threading

import pytest
from kills import leftovers, run_killed, start, timed, wait

from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError, storage, writing

N_ROUNDS = [25, pytest.param(1000, marks=pytest.mark.slow)]
N_KILLS = [8, pytest.param(100, marks=pytest.mark.slow)]


@pytest.fixture
def saved(lexicon, tmp_path):
    lexicon.save(tmp_path / "lexicon")
    return tmp_path / "lexicon"


def add(path, word):
    with Lexicon.edit(path) as lexicon:
        lexicon.with_words([word]).save(path)


def test_a_file_is_no_place_for_a_lexicon(lexicon, tmp_path):
    (tmp_path / "file").write_text("a")
    with pytest.raises(LexiconError, match=r"file is a file, not a folder\. Choose another name"):
        lexicon.save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "a"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("n_rounds", N_ROUNDS)
def test_two_writers_lose_nothing(saved, n_rounds):
    def add_all(name):
        for i in range(n_rounds):
            add(saved, f"{name}{i}")

    before = set(Lexicon.open(saved))
    children = [start(lambda name=name: add_all(name)) for name in "甲乙"]
    n_opened = 0
    while True:  # opening during writes never fails, and never shows anything incomplete
        words = set(Lexicon.open(saved, verify=True))
        counts = [sum(word.startswith(name) for word in words - before) for name in "甲乙"]
        assert words == before | {f"{name}{i}" for name, count in zip("甲乙", counts) for i in range(count)}
        n_opened += 1
        if all(os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) for child in children):
            break
    assert [wait(child) for child in children] == [0, 0] and n_opened > 1
    assert len(Lexicon.open(saved, verify=True)) == len(before) + 2 * n_rounds
    assert not leftovers(saved)


def test_threads_lose_nothing(saved):
    threads = [threading.Thread(target=add, args=(saved, f"新词{i}")) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {f"新词{i}" for i in range(12)} <= set(Lexicon.open(saved, verify=True))


def test_a_save_that_would_lose_the_work_of_another_is_refused(saved):
    mine, other = Lexicon.open(saved).with_words(["我的"]), Lexicon.open(saved).with_words(["别人的"])
    other.save(saved)
    for lexicon in (mine, mine.compact(), mine.with_words(["更多"]), mine.prune(["南京"])):
        with pytest.raises(LexiconError, match=r"another lexicon was saved here since .* Lexicon\.edit"):
            lexicon.save(saved)
    assert "别人的" in Lexicon.open(saved, verify=True) and not leftovers(saved)
    mine.save(saved.parent / "elsewhere")
    mine.save(saved, overwrite=True)
    assert "我的" in Lexicon.open(saved) and "别人的" not in Lexicon.open(saved)


def test_a_lexicon_may_be_saved_again_and_again(saved):
    lexicon = Lexicon.open(saved)
    for word in ("一一", "二二", "三三"):
        lexicon = lexicon.with_words([word])
        lexicon.save(saved)
        lexicon.save(saved)
    assert set(Lexicon.open(saved)) == set(lexicon)
    Lexicon.from_entries([LexiconEntry("全新")]).save(saved)  # built, not changed: it replaces what is there
    assert list(Lexicon.open(saved)) == ["全新"]


def test_a_folder_that_was_removed_can_be_saved_to(saved):
    lexicon = Lexicon.open(saved).with_words(["新"])
    for file in saved.iterdir():
        file.unlink()
    lexicon.save(saved)
    assert "新" in Lexicon.open(saved, verify=True)


def test_editing_nothing_creates_nothing(tmp_path):
    with pytest.raises(LexiconError, match="no lexicon here"), Lexicon.edit(tmp_path / "new"):
        pass
    assert not (tmp_path / "new").exists()


def test_a_writer_that_waits_too_long_is_refused(saved, monkeypatch):
    monkeypatch.setattr(writing, "PATIENCE", 0.1)
    code = "from pathlib import Path; from spacy_lexner.lexicon.writing import writing; "
    code += f"lock = writing(Path({str(saved)!r})); lock.__enter__(); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        with pytest.raises(LexiconError, match=f"{saved}: another process has been writing here for more than"):
            add(saved, "新")
        Lexicon.open(saved, verify=True)  # readers do not wait
        other.send_signal(signal.SIGKILL)
    add(saved, "新")  # the lock of a killed writer is free
    assert "新" in Lexicon.open(saved)


def test_opening_goes_on_with_the_lexicon_that_was_saved_meanwhile(saved, monkeypatch):
    opened = []

    def change_between(path, manifest, verify, original=storage._open_parts):
        if not opened:
            opened.append(manifest)
            add(saved, "新")
        return original(path, manifest, verify)

    monkeypatch.setattr(storage, "_open_parts", change_between)
    assert "新" in Lexicon.open(saved)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("n_kills", N_KILLS)
def test_killed_saves(saved, n_kills):
    generator = random.Random(0)
    words = [f"词{i}" for i in range(2000)]
    old = set(Lexicon.open(saved))

    def change():
        with Lexicon.edit(saved) as lexicon:
            lexicon.with_words(words).save(saved)

    copy = saved.parent / "copy"
    Lexicon.open(saved).save(copy)
    seconds = timed(change)
    for _ in range(n_kills):
        Lexicon.open(copy).save(saved)  # the next run cleans up
        assert not leftovers(saved)
        done = run_killed(change, 1.2 * seconds, generator)
        found = set(Lexicon.open(saved, verify=True))
        assert found in (old, old.union(words)) and (found > old or not done)


def test_a_whole_file(tmp_path):
    file = tmp_path / "new" / "one.txt"
    with writing.whole_file(file) as opened:
        opened.write(b"old")
    (file.parent / ".one.txt.new").write_bytes(b"left by a killed process")
    with pytest.raises(ValueError, match="in between"), writing.whole_file(file) as opened:
        opened.write(b"ne")
        raise ValueError("in between")
    assert file.read_bytes() == b"old" and list(file.parent.iterdir()) == [file]


def test_folders_reach_the_disk(saved, monkeypatch):
    """A manifest reaches the disk only after its parts, and so does the rename."""
    steps = []

    def replace(source, target, original=os.replace):
        steps.append(os.path.basename(target))
        original(source, target)

    monkeypatch.setattr(os, "replace", replace)
    for module in (storage, writing):
        monkeypatch.setattr(module, "sync_folder", lambda path: steps.append("synced"))
    Lexicon.open(saved).with_words(["新"]).save(saved)
    assert steps[-3:] == ["synced", "manifest.json", "synced"] and len(steps) > 4
