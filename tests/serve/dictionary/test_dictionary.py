import threading

import numpy as np
import pytest

from spacy_lexner.lexicon import LexiconError
from spacy_lexner.lexicon.compare import compare
from spacy_lexner.lexicon.rules import RuleReader, WordRule
from spacy_lexner.serve.dictionary import state as state_module
from spacy_lexner.serve.dictionary.dictionary import Dictionary
from spacy_lexner.serve.dictionary.edits import Edit, WordFields
from spacy_lexner.serve.dictionary.errors import ChangedSinceError, UnknownError
from spacy_lexner.serve.dictionary.state import StateDirectory


def add(*words):
    return Edit(add_words=tuple(map(WordFields, words)))


def rule(word, mode, label=""):
    return Edit(add_rules=(WordRule(word, mode, label),), replace=True)


def words(dictionary):
    return sorted(dictionary.matcher.lexicon)


def rules(dictionary):
    return {entry.word: [str(one) for one in entry.rules] for entry in dictionary.matcher.lexicon.ruled_words()}


def crash(dictionary):
    """Stop without a snapshot."""
    dictionary._state.close()


def test_changes_take_effect_and_are_undone_exactly(make_pipe):
    dictionary = Dictionary(make_pipe())
    start = dictionary.version
    first = dictionary.change("add_words", add("新词"))
    assert (first.version_before, first.version_after) == (start, dictionary.version)
    dictionary.change("remove_words", Edit(remove_words=("长江",)))
    dictionary.change("add_rules", rule("大桥", "force", "LOC"))
    assert words(dictionary) == ["大桥", "新词"] and rules(dictionary) == {"大桥": ["force LOC"]}
    assert dictionary.change("add_words", add("新词")) is None
    assert [dictionary.undo().undoes for _ in range(3)] == [3, 2, 1]
    assert dictionary.version == start and words(dictionary) == ["大桥", "长江"]
    entry = dictionary.matcher.lexicon.get("长江")
    assert np.array_equal(entry.vector, [1.0, 2.0]) and entry.weight == 2.0 and entry.labels == ("X",)
    with pytest.raises(UnknownError, match="nothing to undo"):
        dictionary.undo()


def test_a_word_that_comes_back_has_its_vector(make_pipe):
    dictionary = Dictionary(make_pipe())
    dictionary.change("remove_words", Edit(remove_words=("长江",)))
    dictionary.change("add_words", add("长江"))
    assert np.array_equal(dictionary.matcher.lexicon.get("长江").vector, [1.0, 2.0])


def test_a_change_in_the_middle_is_undone_unless_later_ones_concern_its_words(make_pipe):
    dictionary = Dictionary(make_pipe())
    dictionary.change("add_rules", rule("大桥", "force", "LOC"))
    dictionary.change("add_words", add("新词"))
    assert dictionary.undo(1).undoes == 1
    assert rules(dictionary) == {} and "新词" in words(dictionary)
    dictionary.change("add_rules", rule("新词", "forbid"))
    with pytest.raises(ChangedSinceError, match=r"Change 2 cannot be undone: .*新词"):
        dictionary.undo(2)
    with pytest.raises(UnknownError, match="no change 99"):
        dictionary.undo(99)
    assert dictionary.undo(3).undoes == 3 and dictionary.undo(3 + 1).undoes == 4  # an undo can be undone
    assert rules(dictionary) == {"大桥": ["force LOC"]}


def test_trying_changes_nothing(make_pipe):
    dictionary = Dictionary(make_pipe())
    before = dictionary.version
    trial = dictionary.try_out(rule("大桥", "forbid"))
    assert dictionary.version == before and dictionary.history.number == 0
    assert f"{trial.before.version:016x}" == before
    assert f"{trial.after.version:016x}" == dictionary.change("add_rules", rule("大桥", "forbid")).version_after


def test_a_wrong_change_changes_nothing(make_pipe, tmp_path):
    dictionary = Dictionary(make_pipe(), StateDirectory(tmp_path))
    before = dictionary.version
    for edit in (rule("大桥", "force", "XXX"), Edit(add_words=(WordFields("甲", weight=float("nan")),))):
        with pytest.raises(LexiconError):
            dictionary.change("add_rules", edit)
    assert dictionary.version == before and (tmp_path / "journal").stat().st_size == 0
    dictionary.close()


def test_a_change_that_cannot_be_kept_is_not_made(make_pipe, tmp_path, monkeypatch):
    dictionary = Dictionary(make_pipe(), StateDirectory(tmp_path))
    before = dictionary.version

    def fail(record):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(dictionary._state, "append", fail)
    with pytest.raises(OSError, match="No space"):
        dictionary.change("add_words", add("新词"))
    monkeypatch.undo()
    assert dictionary.version == before and dictionary.history.number == 0
    assert dictionary.change("add_words", add("新词")).number == 1
    dictionary.close()


@pytest.mark.parametrize("stop", [crash, Dictionary.close])
def test_nothing_is_lost(make_pipe, tmp_path, stop):
    dictionary = Dictionary(make_pipe(), StateDirectory(tmp_path))
    dictionary.change("add_words", add("新词"))
    dictionary.change("add_rules", rule("大桥", "force", "LOC"))
    dictionary.change("remove_words", Edit(remove_words=("长江",)))
    dictionary.undo(2)
    version = dictionary.version
    stop(dictionary)
    again = Dictionary(make_pipe(), StateDirectory(tmp_path))
    assert again.version == version and words(again) == ["大桥", "新词"]
    assert [change.number for change in again.history] == [1, 2, 3, 4]
    again.undo()  # of the third change
    assert words(again) == ["大桥", "新词", "长江"]
    again.close()


def test_snapshots_on_the_way(make_pipe, tmp_path, monkeypatch):
    monkeypatch.setattr(state_module, "MAX_JOURNAL", 500)
    dictionary = Dictionary(make_pipe(), StateDirectory(tmp_path))
    for i in range(20):
        dictionary.change("add_words", add(f"词{i}"))
        assert (tmp_path / "journal").stat().st_size <= 500
    version = dictionary.version
    crash(dictionary)
    again = Dictionary(make_pipe(), StateDirectory(tmp_path))
    assert again.version == version and again.history.number == 20
    again.close()


def test_a_snapshot_that_cannot_be_written_loses_nothing(make_pipe, tmp_path, monkeypatch, caplog):
    dictionary = Dictionary(make_pipe(), StateDirectory(tmp_path))
    dictionary.change("add_words", add("新词"))

    def fail(content, last):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(dictionary._state, "save_snapshot", fail)
    dictionary.close()
    assert "No snapshot" in caplog.text
    again = Dictionary(make_pipe(), StateDirectory(tmp_path))
    assert "新词" in words(again)
    again.close()


def test_a_torn_record_is_reported(make_pipe, tmp_path, caplog):
    dictionary = Dictionary(make_pipe(), StateDirectory(tmp_path))
    dictionary.change("add_words", add("新词"))
    crash(dictionary)
    with (tmp_path / "journal").open("ab") as file:
        file.write(b'{"number":2,')
    again = Dictionary(make_pipe(), StateDirectory(tmp_path))
    assert again.torn_bytes == 12 and "incomplete (12 bytes)" in caplog.text and "新词" in words(again)
    again.close()


def test_another_model_gets_all_changes(make_pipe):
    dictionary = Dictionary(make_pipe())
    dictionary.change("add_words", add("新词"))
    dictionary.change("remove_words", Edit(remove_words=("长江",)))
    dictionary.use_model(make_pipe(words=("长江", "黄河")))
    assert words(dictionary) == ["新词", "黄河"]
    dictionary.undo()
    assert words(dictionary) == ["新词", "长江", "黄河"]


def test_a_model_that_the_changes_do_not_fit_is_refused(make_pipe):
    dictionary = Dictionary(make_pipe())
    dictionary.change("add_rules", rule("大桥", "force", "LOC"))
    pipe, version = dictionary.pipe, dictionary.version
    other = make_pipe(reader=RuleReader("lex_ner", frozenset(["ORG"]), frozenset(["forbid"])))
    with pytest.raises(LexiconError, match="force LOC"):
        dictionary.use_model(other)
    assert dictionary.pipe is pipe and dictionary.version == version


def test_differences_of_two_states(make_pipe):
    dictionary = Dictionary(make_pipe())
    first = dictionary.change("add_words", add("新词"))
    dictionary.change("add_rules", rule("大桥", "force", "LOC"))
    dictionary.change("remove_words", Edit(remove_words=("长江",)))

    def differ(start, end):
        diff = compare(*dictionary.lexicons(start, end))
        return len(diff.added), len(diff.removed), len(diff.changed_rows)

    assert differ("", "") == (1, 1, 1)
    assert differ(first.version_after, "") == (0, 1, 1)
    assert differ("2", "1") == (0, 0, 1)
    assert differ(first.version_before, "1") == (1, 0, 0)
    assert differ("3", "3") == (0, 0, 0)
    with pytest.raises(UnknownError, match="no version or change 'ffff'"):
        dictionary.lexicons("ffff", "")
    other = make_pipe()
    other.add_words(["别的"])
    dictionary.use_model(other)
    assert differ("", dictionary.version) == (1, 1, 1)
    assert differ("3", dictionary.version) == (0, 0, 0)


def test_changes_of_many_threads_are_all_kept(make_pipe, tmp_path):
    dictionary = Dictionary(make_pipe(), StateDirectory(tmp_path))

    def work(part):
        for i in range(10):
            dictionary.change("add_words", add(f"词{part}第{i}"))

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = words(dictionary)
    crash(dictionary)
    again = Dictionary(make_pipe(), StateDirectory(tmp_path))
    assert words(again) == found and len(found) == 42 and again.history.number == 40
    again.close()
