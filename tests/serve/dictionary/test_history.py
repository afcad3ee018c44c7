from spacy_lexner.serve.dictionary import history as module
from spacy_lexner.serve.dictionary.history import Change, History
from spacy_lexner.serve.dictionary.words import UNTOUCHED

FIELDS = {"labels": [], "weight": 1.0, "entity_id": "", "rules": []}


def change(number, word, before, after, undoes=None):
    kind = "add_words" if undoes is None else "undo"
    return Change(
        number, kind, "2026-11-24T00:00:00Z", {word: before}, {word: after}, f"v{number - 1}", f"v{number}", undoes
    )


def test_states_and_undoing():
    history = History()
    history.add(change(1, "甲", UNTOUCHED, FIELDS))
    history.add(change(2, "乙", UNTOUCHED, None))
    history.add(change(3, "甲", FIELDS, UNTOUCHED, undoes=1))
    assert history.overlay == {"乙": None} and history.number == 3
    assert history.state_at("v3") == history.state_at("3") == {"乙": None}
    assert history.state_at("v2") == {"甲": FIELDS, "乙": None}
    assert history.state_at("1") == {"甲": FIELDS}
    assert history.state_at("v0") == history.state_at("0") == {}
    assert history.state_at("v9") is None
    assert history.undone == {1: 3}
    assert history.find(None).number == 2 and history.find(1).number == 1 and history.find(4) is None
    assert history.changed_since(history.find(1)) == ["甲"] and history.changed_since(history.find(2)) == []
    assert [history.describe(one)["undone"] for one in history] == [True, False, False]


def test_an_undo_that_is_undone_has_no_effect():
    history = History()
    history.add(change(1, "甲", UNTOUCHED, FIELDS))
    history.add(change(2, "甲", FIELDS, UNTOUCHED, undoes=1))
    assert history.undone == {1: 2} and history.find(None) is None
    history.add(change(3, "甲", UNTOUCHED, FIELDS, undoes=2))
    assert history.undone == {2: 3} and history.find(None).number == 1
    history.add(change(4, "甲", FIELDS, UNTOUCHED, undoes=1))
    assert history.undone == {2: 3, 1: 4} and history.find(None) is None


def test_old_changes_are_forgotten_but_not_what_they_did(monkeypatch):
    monkeypatch.setattr(module, "MAX_CHANGES", 3)
    history = History()
    for number in range(1, 6):
        history.add(change(number, f"词{number}", UNTOUCHED, FIELDS))
    assert [one.number for one in history] == [3, 4, 5] and len(history.overlay) == 5
    assert len(history.state_at("2")) == 2 and history.state_at("1") is None


def test_large_changes_are_forgotten_but_the_last_one(monkeypatch):
    monkeypatch.setattr(module, "MAX_WORDS", 3)
    history = History()
    words = {f"词{i}": FIELDS for i in range(4)}
    for number in (1, 2):
        history.add(Change(number, "upload_words", "", {}, words, "", ""))
    assert [one.number for one in history] == [2]


def test_a_change_survives_as_a_record():
    made = change(1, "甲", UNTOUCHED, FIELDS)
    assert Change.from_record(made.to_record()) == made
