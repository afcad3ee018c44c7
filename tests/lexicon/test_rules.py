import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon import LexiconError
from spacy_lexner.lexicon.rules import (
    MODES,
    Rule,
    RuleReader,
    check_rules,
    normal_rules,
    pack_rules,
    unpack_rules,
)

NER = RuleReader("lex_ner", frozenset(["LOC", "PER"]), frozenset(["forbid"]), frozenset(["SHIP"]))
SEGMENTER = RuleReader("lex_segmenter", frozenset(["WORD"]), frozenset(["force", "prefer"]))

RULE = st.one_of(
    st.just(Rule("hint")),
    st.builds(Rule, st.sampled_from(["force", "forbid"]), st.sampled_from(["", "LOC", "人名"]), st.just(0.0)),
    st.builds(Rule, st.just("prefer"), st.sampled_from(["", "LOC"]), st.floats(0.001, 1e3)),
)


@given(st.lists(RULE, max_size=4))
def test_packing(rules):
    normal = normal_rules(rules)
    assert set(normal) == {rule for rule in rules if rule.mode != "hint"} and list(normal) == sorted(set(normal))
    assert unpack_rules(pack_rules(normal)) == normal == normal_rules(normal)


@pytest.mark.parametrize("text", ["[", "[1]", '[["must"]]', '[["force","LOC",1,2]]', "null", '{"a":1}'])
def test_damaged_rules(text):
    with pytest.raises(LexiconError, match="rules of the lexicon are damaged"):
        unpack_rules(text)


@pytest.mark.parametrize(
    "rule,message",
    [
        (Rule("must"), f"the mode is 'must'; expected one of {', '.join(MODES)}"),
        (Rule("force", " LOC"), "the label is ' LOC'"),
        (Rule("force", "A\nB"), "the label is"),
        (Rule("prefer", "LOC"), "prefer needs a weight other than 0"),
        (Rule("prefer", "LOC", float("nan")), "the weight is nan"),
        (Rule("prefer", "LOC", float("inf")), "the weight is inf"),
        (Rule("prefer", "LOC", "2"), "the weight is '2'"),
        (Rule("force", "LOC", 2.0), "force takes no weight, but has 2"),
        (Rule("hint", "LOC"), "hint takes no label, but has 'LOC'"),
    ],
)
def test_rule_that_makes_no_sense(rule, message):
    with pytest.raises(LexiconError, match=message):
        normal_rules([rule])


@pytest.mark.parametrize("weight", [np.float32(2), np.float64(2), np.int64(2), 2])
def test_weights_of_numpy(weight):
    ((_, _, own),) = normal_rules([Rule("prefer", "LOC", weight)])
    assert type(own) is float and own == 2


def test_rules_for_people():
    assert [str(Rule(*row)) for row in [("hint",), ("force", "LOC"), ("prefer", "LOC", -2.5)]] == [
        "hint",
        "force LOC",
        "prefer LOC -2.5",
    ]


@pytest.mark.parametrize(
    "rules,contradiction",
    [
        ([Rule("force", "LOC"), Rule("force", "PER")], "force LOC and force PER"),
        ([Rule("force", "LOC"), Rule("forbid")], "forbid and force LOC"),
        ([Rule("force", "LOC"), Rule("forbid", "LOC")], "forbid LOC and force LOC"),
        ([Rule("prefer", "LOC", 2), Rule("prefer", "LOC", 3)], "prefer LOC 2 and prefer LOC 3"),
        ([Rule("prefer", "LOC", 2), Rule("forbid", "LOC")], "forbid LOC and prefer LOC 2"),
        ([Rule("force", "LOC"), Rule("forbid", "PER"), Rule("prefer", "PER", 1)], "forbid PER and prefer PER 1"),
        ([Rule("force", "LOC"), Rule("forbid", "PER"), Rule("prefer", "LOC", 1)], ""),
        ([Rule("forbid", "LOC"), Rule("forbid", "PER"), Rule("forbid")], ""),
        ([Rule("force", "LOC"), Rule("force", "WORD")], ""),  # an entity of one component, a word of the other
    ],
)
def test_contradictions(rules, contradiction):
    rules = normal_rules(rules)
    assert NER.contradiction(rules) == contradiction
    if contradiction:
        with pytest.raises(LexiconError, match=f"The rules of '长江' contradict each other .lex_ner.: {contradiction}"):
            check_rules("长江", rules, [SEGMENTER, NER])
    else:
        check_rules("长江", rules, [SEGMENTER, NER])


@pytest.mark.parametrize("rule", [Rule("force", "LOK"), Rule("prefer", "SHIP", 1.0), Rule("forbid", "SHIP")])
def test_rule_that_concerns_nobody(rule):
    with pytest.raises(LexiconError, match="of '长江' applies to no component: lex_ner has the labels LOC, PER, and"):
        check_rules("长江", (rule,), [NER, SEGMENTER])
    check_rules("长江", (rule,), [])


def test_whom_a_rule_concerns():
    assert NER.concerns(Rule("force", "SHIP")) and NER.concerns(Rule("forbid")) and not NER.concerns(Rule("force"))
    assert SEGMENTER.concerns(Rule("force")) and not SEGMENTER.concerns(Rule("forbid"))
