"""The format on disk. tests/fixtures/lexicon/saved was saved by the first release of the format, from ENTRIES."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Normalization
from spacy_lexner.lexicon.normalization import read_table
from spacy_lexner.lexicon.rules import Rule
from spacy_lexner.lexicon.writing import LOCK

SAVED = Path(__file__).parents[1] / "fixtures" / "lexicon" / "saved"
VECTOR = np.array([0.5, -1, 2], "f4")
ENTRIES = [
    LexiconEntry("上下", VECTOR, 2.5, "LOC", "Q1", (Rule("force", "LOC"), Rule("prefer", "GPE", 1.5))),
    LexiconEntry("上下不一"),
    LexiconEntry("一", 2 * VECTOR),
    LexiconEntry("ＡＢ七", rules=(Rule("forbid"),)),
    LexiconEntry("ab七"),
    LexiconEntry("a\tb", label="skipped"),
    LexiconEntry("bb", -VECTOR, label="X"),
]


@pytest.fixture(scope="module")
def built() -> Lexicon:
    return Lexicon.from_entries(ENTRIES, dtype="float16", normalization=Normalization(True, True), max_word_length=8)


def test_a_lexicon_saved_before_opens(built):
    saved = Lexicon.open(SAVED, verify=True)
    assert list(map(str, saved.entries())) == list(map(str, built.entries()))
    assert (saved.version, saved.normalization, saved.max_word_length) == (built.version, Normalization(True, True), 8)
    assert str(saved.report) == str(built.report)
    text = "一上下不一ＡＢ七bb"
    assert [found.tolist() for found in saved.match(text)] == [found.tolist() for found in built.match(text)]
    assert len(saved.match(text).starts) == 6


def test_it_is_saved_byte_for_byte(built, tmp_path):
    built.save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(SAVED)
    Lexicon.from_bytes(built.to_bytes()).save(tmp_path / "bytes")
    assert contents(tmp_path / "bytes") == contents(SAVED)


@pytest.mark.parametrize("opened", ["folder", "bytes", "pickle"])
def test_a_script_is_saved_with_its_table(opened, tmp_path, monkeypatch):
    entries = [LexiconEntry("臺灣"), LexiconEntry("發展", labels=("X",)), LexiconEntry("发展", VECTOR, labels=("Y",))]
    lexicon = Lexicon.from_entries(entries, normalization=Normalization(script="simplified"), merge=True)
    lexicon.save(tmp_path)
    monkeypatch.setitem(sys.modules, "opencc", None)  # no longer needed
    read_table.cache_clear()
    if opened == "folder":
        again = Lexicon.open(tmp_path, verify=True)
    else:
        again = Lexicon.from_bytes(lexicon.to_bytes()) if opened == "bytes" else pickle.loads(pickle.dumps(lexicon))
    assert (again.version, again.normalization) == (lexicon.version, lexicon.normalization)
    assert list(again) == ["台湾", "发展"]
    text = "台灣,發展"
    assert [column.tolist() for column in again.match(text)[:2]] == [[0, 3], [2, 5]]
    changed = again.with_words(["裏面"]).without_words(["臺湾"])
    assert "里面" in changed and "裡面" in changed and "台湾" not in changed
    entry = changed.get("發展")
    assert entry is not None and entry.vector is not None and entry.labels == ("X", "Y")
    monkeypatch.undo()
    rebuilt = Lexicon.from_entries(changed.entries(), normalization=Normalization(script="simplified"))
    assert rebuilt.version == changed.version != Lexicon.from_entries(changed.entries()).version


def test_changes_come_out_the_same(built, tmp_path):
    changed = built.without_words(["上下", "bb"]).with_words([ENTRIES[0], LexiconEntry("世", VECTOR), ENTRIES[-1]])
    changed.without_words(["世"]).save(tmp_path)
    assert Lexicon.open(tmp_path).version == Lexicon.open(SAVED).version


def contents(folder: Path) -> dict:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != LOCK}
