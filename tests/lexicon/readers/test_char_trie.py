import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygtrie import CharTrie, StringTrie

from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError, Matcher
from spacy_lexner.lexicon.readers import read_char_trie
from spacy_lexner.lexicon.rules import Rule

VECTOR = np.array([1, 2], "f4")
EXPECTED_KINDS = "None, a label .* a weight .* a vector .* a dict of label, vector, weight, .*, or a LexiconEntry"
ENTRY = LexiconEntry("长江", VECTOR, 2.0, "LOC", "Q1", (Rule("force", "LOC"),))


def trie_of(**values):
    trie = CharTrie()
    trie.update(values)
    return trie


@given(words=st.sets(st.text("甲乙丙", min_size=1, max_size=4), min_size=1), text=st.text("甲乙丙 ", max_size=30))
def test_finds_what_pygtrie_finds(find_all, words, text):
    trie = CharTrie.fromkeys(words)
    matches, _ = Matcher(Lexicon.from_entries(read_char_trie(trie))).match([text])
    found = list(zip(matches.starts.tolist(), matches.ends.tolist()))
    prefixes = [(start, start + len(step.key)) for start in range(len(text)) for step in trie.prefixes(text[start:])]
    assert found == prefixes == [(start, end) for _, start, end in find_all(words, [text])]


@pytest.mark.parametrize(
    "value,expected",
    [
        (None, LexiconEntry("长江")),
        ("LOC", LexiconEntry("长江", label="LOC")),
        (2, LexiconEntry("长江", weight=2.0)),
        (np.float32(2.5), LexiconEntry("长江", weight=2.5)),
        ([1, 2.0], LexiconEntry("长江", VECTOR)),
        (VECTOR, LexiconEntry("长江", VECTOR)),
        (ENTRY, ENTRY),
        ({}, LexiconEntry("长江")),
        ({"label": "LOC", "vector": None}, LexiconEntry("长江", label="LOC")),
        ({"labels": ["LOC", "RIVER"]}, LexiconEntry("长江", labels=("LOC", "RIVER"))),
        ({"vector": (1, 2), "weight": 2, "label": "LOC", "entity_id": "Q1", "rules": [("force", "LOC")]}, ENTRY),
    ],
)
def test_values(value, expected):
    [entry] = read_char_trie(trie_of(长江=value))
    assert str(entry) == str(expected._replace(weight=entry.weight)) and entry.weight == expected.weight


@pytest.mark.parametrize(
    "value,detail",
    [
        (True, "True; "),
        ({"a"}, "{'a'}; "),
        ([], r"\[\]; "),
        (["a"], r"\['a'\]; "),
        (np.ones((1, 2)), ""),
        (ENTRY._replace(word="大桥"), "an entry of '大桥'"),
        ({"lables": "LOC"}, "unknown fields lables"),
        ({"labels": ["LOC", 3]}, r"labels is \['LOC', 3\], not a list of str"),
        ({"labels": 3}, "labels is 3, not a list of str"),
        ({"label": 3}, "label is 3, not a str"),
        ({"weight": "3"}, "weight is '3', not a number"),
        ({"vector": "3"}, ""),
        ({"rules": [("force", "LOC", 1.0, 2)]}, "rules is .* not a list of"),
    ],
)
def test_wrong_values_are_named_with_their_word(value, detail):
    with pytest.raises(LexiconError, match=f"the value of '长江' is .*{detail}.*expected {EXPECTED_KINDS}"):
        list(read_char_trie(trie_of(市=None, 长江=value)))


def test_a_function_that_returns_the_trie():
    assert [entry.word for entry in read_char_trie(lambda: trie_of(市=None))] == ["市"]


@pytest.mark.parametrize(
    "trie,message",
    [
        (CharTrie(), "holds no words"),
        (StringTrie(), "Expected a pygtrie.CharTrie or a function that returns one; got StringTrie"),
        (lambda: None, "got NoneType"),
        ({"市": None}, "got dict"),
    ],
)
def test_no_trie(trie, message):
    with pytest.raises(LexiconError, match=message):
        read_char_trie(trie)
