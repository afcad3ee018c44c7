import re

import pytest

from spacy_lexner.lexicon import Lexicon, LexiconError, Normalization
from spacy_lexner.lexicon.rules import WordRule
from spacy_lexner.serve.dictionary.edits import Edit, WordFields, edit_words
from spacy_lexner.serve.dictionary.errors import ContradictionError, UnknownError

KNOWN = {"labels": ["X"], "weight": 2.0, "entity_id": "", "rules": []}
NEW = {"labels": [], "weight": 1.0, "entity_id": "", "rules": []}


@pytest.fixture
def pipe(make_pipe):
    pipe = make_pipe()
    pipe.add_rules([("大桥", "force", "LOC")])
    return pipe


def test_what_is_not_told_of_a_word_stays(pipe):
    words = (WordFields(" 长江 ", weight=0.1), WordFields("大桥", labels=("A", "B", "A")), WordFields("新词"))
    values = edit_words(pipe, Edit(add_words=words))
    assert values["长江"] == {**KNOWN, "weight": pytest.approx(0.1, rel=2**-24)}
    assert values["大桥"] == {**KNOWN, "labels": ["A", "B"], "rules": [["force", "LOC", 0.0]]}
    assert values["新词"] == NEW


@pytest.mark.parametrize("weight", ["1e+300", "inf", "nan", "-1e+39"])
def test_weights_that_the_lexicon_cannot_hold(pipe, weight):
    words = (WordFields("长江", weight=float(weight)),)
    with pytest.raises(LexiconError, match=rf"weight of '长江' is {re.escape(weight)}; expected a number of at most"):
        edit_words(pipe, Edit(add_words=words))


def test_what_is_so_already_is_no_change(pipe):
    edit = Edit(add_words=(WordFields("长江", ["X"], 2.0),), add_rules=(WordRule("大桥", "force", "LOC"),))
    assert edit_words(pipe, edit) == {}


def test_rules_join_or_replace(pipe):
    rule = WordRule("长江", "prefer", "LOC", 2.0)
    joined = edit_words(pipe, Edit(add_rules=(rule, WordRule("长江", "forbid", "PER"))))
    assert joined["长江"]["rules"] == [["forbid", "PER", 0.0], ["prefer", "LOC", 2.0]]
    new = (WordRule("大桥", "force", "PER"),)
    with pytest.raises(ContradictionError, match="force LOC and force PER") as caught:
        edit_words(pipe, Edit(add_rules=new))
    assert caught.value.word == "大桥" and caught.value.rules == ("force LOC", "force PER")
    assert edit_words(pipe, Edit(add_rules=new, replace=True))["大桥"]["rules"] == [["force", "PER", 0.0]]
    assert edit_words(pipe, Edit(remove_rules=("大桥",), add_rules=new))["大桥"]["rules"] == [["force", "PER", 0.0]]
    assert edit_words(pipe, Edit(add_rules=(WordRule("大桥", "hint"),), replace=True))["大桥"]["rules"] == []


@pytest.mark.parametrize("replace", [False, True])
def test_spellings_of_one_word_share_their_rules(make_pipe, replace):
    pipe = make_pipe()
    pipe.set_lexicon(Lexicon.from_entries([], normalization=Normalization(case=True)))
    given = (WordRule("iPhone", "force", "LOC"), WordRule("IPHONE", "forbid", "PER"))
    values = edit_words(pipe, Edit(add_rules=given, replace=replace))
    assert values == {"iphone": {**NEW, "rules": [["forbid", "PER", 0.0], ["force", "LOC", 0.0]]}}


def test_removing(pipe):
    assert edit_words(pipe, Edit(remove_words=("大桥", "没有"))) == {"大桥": None}
    assert edit_words(pipe, Edit(remove_rules=("大桥",)))["大桥"] == KNOWN
    both = Edit(remove_words=("大桥",), add_words=(WordFields("大桥"),))
    assert edit_words(pipe, both) == {"大桥": NEW}
    for edit in (Edit(remove_words=("没有",)), Edit(remove_rules=("没有",))):
        with pytest.raises(UnknownError, match="Not in the lexicon: 没有"):
            edit_words(pipe, edit)


@pytest.mark.parametrize(
    ("word", "reason"),
    [("", "empty"), ("a\0", "NUL"), ("\ud800", "surrogate"), ("a\nb", "white"), ("长" * 65, "longer")],
)
def test_invalid_words(pipe, word, reason):
    with pytest.raises(LexiconError, match=reason):
        edit_words(pipe, Edit(add_words=(WordFields(word),)))
