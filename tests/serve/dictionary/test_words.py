import numpy as np

from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.lexicon.rules import Rule
from spacy_lexner.serve.dictionary.words import UNTOUCHED, get_value, resolve, set_values, to_entry, to_fields

VECTOR = np.ones(3, "f4")
BASE = Lexicon.from_entries([LexiconEntry("长江", VECTOR, 2.0, "LOC", "Q5413"), LexiconEntry("大桥", VECTOR)])


def test_fields_and_back():
    fields = to_fields(BASE.get("长江"))
    assert fields == {"labels": ["LOC"], "weight": 2.0, "entity_id": "Q5413", "rules": []}
    entry = to_entry(BASE, "长江", {**fields, "weight": 3.0, "rules": [["force", "LOC", 0.0]]})
    assert entry.weight == 3.0 and entry.rules == (Rule("force", "LOC"),)
    assert np.array_equal(entry.vector, VECTOR)  # that of the model's own word
    assert to_entry(BASE, "新词", fields).vector is None
    assert to_entry(BASE, "长江", None) is None
    assert to_entry(BASE, "长江", UNTOUCHED).weight == 2.0 and to_entry(BASE, "新词", UNTOUCHED) is None


def test_what_becomes_of_words():
    fields = to_fields(LexiconEntry("新词"))
    found = resolve(BASE, {"新词": fields, "长江": None, "大桥": UNTOUCHED, "没有": UNTOUCHED})
    assert [entry.word for entry in found.entries] == ["新词", "大桥"] and found.removed == ["长江", "没有"]


def test_changes_on_top_of_others():
    overlay = {"甲": None}
    set_values(overlay, {"乙": None, "甲": UNTOUCHED})
    assert overlay == {"乙": None}
    assert get_value(overlay, "甲") == UNTOUCHED and get_value(overlay, "乙") is None
