"""The format on disk. tests/fixtures/lexicon/saved was saved by the first release of the format, from ENTRIES."""

from pathlib import Path

import numpy as np
import pytest

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Normalization
from spacy_lexner.lexicon.rules import Rule

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
    assert (saved.version, saved.normalization, saved.max_word_length) == (built.version, (True, True), 8)
    assert str(saved.report) == str(built.report)
    text = "一上下不一ＡＢ七bb"
    assert [found.tolist() for found in saved.match(text)] == [found.tolist() for found in built.match(text)]
    assert len(saved.match(text).starts) == 6


def test_it_is_saved_byte_for_byte(built, tmp_path):
    built.save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(SAVED)
    Lexicon.from_bytes(built.to_bytes()).save(tmp_path / "bytes")
    assert contents(tmp_path / "bytes") == contents(SAVED)


def test_changes_come_out_the_same(built, tmp_path):
    changed = built.without_words(["上下", "bb"]).with_words([ENTRIES[0], LexiconEntry("世", VECTOR), ENTRIES[-1]])
    changed.without_words(["世"]).save(tmp_path)
    assert Lexicon.open(tmp_path).version == Lexicon.open(SAVED).version


def contents(folder: Path) -> dict:
    return {file.name: file.read_bytes() for file in folder.iterdir()}
