import pytest
import spacy
from spacy.tokens import Doc

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher, MatchOptions
from spacy_lexner.lexicon.rules import Rule, RuleReader
from spacy_lexner.tagging.spans.span_rules import NEVER
from spacy_lexner.tagging.spans.tag_scheme import NoPathError, TagSpan
from spacy_lexner.tagging.spans.word_rules import (
    NO_RULES,
    RuleConflict,
    RuleMatch,
    apply_rules,
    find_rule_matches,
    raise_for_rules,
)

NUMBERS = {"A": [0], "B": [1], "": [0, 1]}


@pytest.fixture(scope="module")
def doc():
    return spacy.blank("zh")("一二三四五六")


def word(start, end, *rules, aligned=True):
    return RuleMatch(start, end, start, end, aligned, "一二三四五六"[start:end], tuple(Rule(*rule) for rule in rules))


def applied(doc, *words, kept=lambda word, rule: ""):
    return apply_rules(doc, words, lambda rule: NUMBERS[rule.label], kept)


def test_modes(doc):
    rules = applied(
        doc, word(0, 2, ("force", "A")), word(1, 3, ("forbid",), ("prefer", "A", 2.0)), word(4, 5, ("force",))
    )
    assert rules.spans.forced == (TagSpan(0, 2, 0), TagSpan(4, 5, 0), TagSpan(4, 5, 1))
    assert rules.spans.weights == {TagSpan(1, 3, 0): NEVER, TagSpan(1, 3, 1): NEVER}
    assert rules.conflicts == () and rules.all_conflicts([TagSpan(0, 2, 0), TagSpan(4, 5, 1)], "ner") == []


def test_preferences_add_up(doc):
    rules = applied(doc, word(0, 2, ("prefer", "A", 2.0), ("prefer", "", 0.5)))
    assert rules.spans.weights == {TagSpan(0, 2, 0): 2.5, TagSpan(0, 2, 1): 0.5}


def test_what_does_not_fit_is_told(doc):
    rules = applied(
        doc,
        word(0, 2, ("force", "A"), aligned=False),
        word(0, 2, ("forbid", "A"), aligned=False),
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
        "'force B' of '三四' (characters 2 to 4) is not followed: the Doc came with '三四五', which is kept",
    ]


def test_who_won(doc):
    rules = applied(doc, word(0, 2, ("force", "A")), word(1, 4, ("force", "A")), word(3, 5, ("force", "B")))
    lost = rules.all_conflicts([TagSpan(0, 2, 0), TagSpan(3, 5, 1)], "ner")
    assert lost == [RuleConflict("二三四", "force A", 1, 4, "overlap", "一二", "ner")]
    assert str(lost[0]).endswith("is not followed: it overlaps '一二', which scores higher")
    both = applied(doc, word(0, 2, ("force", "A"), ("force", "B")))
    assert [c.rule for c in both.all_conflicts([TagSpan(0, 2, 1)], "ner")] == ["force A"]


def test_rules_that_leave_no_reading(doc):
    contradictory = applied(doc, word(0, 2, ("force", "A"), ("forbid",)), word(3, 4, ("forbid",)))
    many = applied(doc, *(word(i, i + 1, ("forbid",)) for i in range(6)), word(0, 3, ("force", "A"), aligned=False))
    error = NoPathError([0, 1, 2])
    with pytest.raises(ValueError, match=r"^ner: no analysis of 'x' .*: '一二' has the rules force A, forbid\."):
        raise_for_rules(error, ["", "x", "y"], [NO_RULES, contradictory, many], "ner")
    with pytest.raises(ValueError, match=r"'一' has the rules forbid; .*; and 1 more words"):
        raise_for_rules(NoPathError([0]), ["x"], [many], "ner")
    raise_for_rules(NoPathError([0]), ["x"], [NO_RULES], "ner")


FORCE, FORBID, OTHER = Rule("force", "LOC"), Rule("forbid"), Rule("force", "WORD")
READER = RuleReader("lex_ner", frozenset(["LOC"]), frozenset(["forbid"]))


def matcher(**rules):
    return Matcher(Lexicon.from_entries(LexiconEntry(word, rules=own) for word, own in rules.items()))


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("zh")


def test_only_what_concerns_the_component(nlp):
    state = matcher(长江=(FORCE, OTHER), 大桥=(OTHER,), 江=(FORBID,), 长=())
    words = find_rule_matches([nlp.make_doc("长江大桥")], [state], READER)
    assert words == [[RuleMatch(0, 2, 0, 2, True, "长江", (FORCE,)), RuleMatch(1, 2, 1, 2, True, "江", (FORBID,))]]


def test_each_doc_in_its_own_state(nlp):
    docs = [nlp.make_doc(text) for text in ("长江", "大桥", "长江", "")]
    first, second = matcher(长江=(FORCE,)), matcher(长江=(FORBID,), 大桥=(FORCE,))
    words = find_rule_matches(docs, [first, second, second, first], READER)
    assert [[(word.word, word.rules) for word in found] for found in words] == [
        [("长江", (FORCE,))],
        [("大桥", (FORCE,))],
        [("长江", (FORBID,))],
        [],
    ]
    assert find_rule_matches(docs, [None] * 4, READER) == [[]] * 4


@pytest.mark.parametrize(
    ("inside_latin", "cuts_latin"), [("hints", True), ("none", True), ("all", False), ("all", True)]
)
def test_inside_of_latin_words(nlp, inside_latin, cuts_latin):
    lexicon = matcher(iPhone=(FORCE,), T恤=(FORCE,)).lexicon
    state = Matcher(lexicon, MatchOptions(inside_latin=inside_latin))
    reader = READER._replace(cuts_latin=cuts_latin)
    words = find_rule_matches([nlp.make_doc("iPhone15和iPhone，T恤")], [state], reader)
    expected = [(9, "iPhone"), (16, "T恤")]
    if inside_latin == "all" and cuts_latin:
        expected = [(0, "iPhone"), *expected]
    assert [(word.start_char, word.word) for word in words[0]] == expected


def test_words_that_cross_tokens(nlp):
    doc = Doc(nlp.vocab, words=["南京市", "长江", "大桥", "\n", "长江"], spaces=[False] * 5)
    words = find_rule_matches([doc], [matcher(南京=(FORCE,), 市长=(FORCE,), 长江大桥=(FORCE,), 长江=(FORCE,))], READER)
    assert [word[:6] for word in words[0]] == [
        (0, 2, 0, 1, False, "南京"),
        (2, 4, 0, 2, False, "市长"),
        (3, 5, 1, 2, True, "长江"),
        (3, 7, 1, 3, True, "长江大桥"),
        (8, 10, 4, 5, True, "长江"),
    ]
