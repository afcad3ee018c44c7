import pytest
import spacy

from spacy_lexner.lexicon.rules import Rule
from spacy_lexner.tagging.spans.ruled_words import RuledWord
from spacy_lexner.tagging.spans.span_rules import NEVER
from spacy_lexner.tagging.spans.tag_scheme import NoPathError, TagSpan
from spacy_lexner.tagging.spans.word_rules import NO_RULES, RuleConflict, decree, raise_impossible

NUMBERS = {"A": [0], "B": [1], "": [0, 1]}


@pytest.fixture(scope="module")
def doc():
    return spacy.blank("zh")("一二三四五六")


def word(start, end, *rules, whole=True):
    return RuledWord(start, end, start, end, whole, "一二三四五六"[start:end], tuple(Rule(*rule) for rule in rules))


def decreed(doc, *words, kept=lambda word, rule: ""):
    return decree(doc, words, lambda rule: NUMBERS[rule.label], kept)


def test_modes(doc):
    rules = decreed(
        doc, word(0, 2, ("force", "A")), word(1, 3, ("forbid",), ("prefer", "A", 2.0)), word(4, 5, ("force",))
    )
    assert rules.spans.forced == (TagSpan(0, 2, 0), TagSpan(4, 5, 0), TagSpan(4, 5, 1))
    assert rules.spans.weights == {TagSpan(1, 3, 0): NEVER, TagSpan(1, 3, 1): NEVER}
    assert rules.conflicts == () and rules.all_conflicts([TagSpan(0, 2, 0), TagSpan(4, 5, 1)], "ner") == []


def test_preferences_add_up(doc):
    rules = decreed(doc, word(0, 2, ("prefer", "A", 2.0), ("prefer", "", 0.5)))
    assert rules.spans.weights == {TagSpan(0, 2, 0): 2.5, TagSpan(0, 2, 1): 0.5}


def test_what_does_not_fit_is_told(doc):
    rules = decreed(
        doc,
        word(0, 2, ("force", "A"), whole=False),
        word(0, 2, ("forbid", "A"), whole=False),
        word(2, 4, ("force", "B"), ("prefer", "B", 1.0)),
        kept=lambda word, rule: "三四五" if rule.mode == "force" else "",
    )
    assert rules.spans.forced == () and rules.spans.weights == {TagSpan(2, 4, 1): 1.0}
    assert rules.all_conflicts([], "ner") == [
        RuleConflict("一二", "force A", 0, 2, "tokens", "一二", "ner"),
        RuleConflict("三四", "force B", 2, 4, "kept", "三四五", "ner"),
    ]
    assert [str(conflict) for conflict in rules.conflicts] == [
        "'force A' of '一二' (characters 0 to 2) is not followed: it does not begin and end with tokens ('一二')",
        "'force B' of '三四' (characters 2 to 4) is not followed: the Doc brought along '三四五', which is kept",
    ]


def test_who_won(doc):
    rules = decreed(doc, word(0, 2, ("force", "A")), word(1, 4, ("force", "A")), word(3, 5, ("force", "B")))
    lost = rules.all_conflicts([TagSpan(0, 2, 0), TagSpan(3, 5, 1)], "ner")
    assert lost == [RuleConflict("二三四", "force A", 1, 4, "overlap", "一二", "ner")]
    assert str(lost[0]).endswith("is not followed: it overlaps '一二', and readings with that score more")
    both = decreed(doc, word(0, 2, ("force", "A"), ("force", "B")))
    assert [c.rule for c in both.all_conflicts([TagSpan(0, 2, 1)], "ner")] == ["force A"]


def test_rules_that_leave_no_reading(doc):
    contradictory = decreed(doc, word(0, 2, ("force", "A"), ("forbid",)), word(3, 4, ("forbid",)))
    many = decreed(doc, *(word(i, i + 1, ("forbid",)) for i in range(6)), word(0, 3, ("force", "A"), whole=False))
    error = NoPathError([0, 1, 2])
    with pytest.raises(ValueError, match=r"^ner: No reading of 'x' .*: '一二' has the rules force A, forbid\. Correct"):
        raise_impossible(error, ["", "x", "y"], [NO_RULES, contradictory, many], "ner")
    with pytest.raises(ValueError, match=r"'一' has the rules forbid; .*; and 1 more words"):
        raise_impossible(NoPathError([0]), ["x"], [many], "ner")
    raise_impossible(NoPathError([0]), ["x"], [NO_RULES], "ner")
