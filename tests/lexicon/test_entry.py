import pickle
import re
import sys
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError, Normalization
from spacy_lexner.lexicon.entry import (
    INVALID,
    REASONS,
    EntryStream,
    find_fault,
    hash_word,
    pack_labels,
    to_stored,
    unpack_labels,
)
from spacy_lexner.lexicon.rules import Rule

ONES = np.ones(3, "f4")


@pytest.mark.parametrize(
    "word,vector,weight,dim,expected",
    [
        ("南京", None, 1.0, 0, None),
        ("\U00020bb7🙂", ONES, -2.5, 3, None),
        ("南京", ONES, 1.0, 0, None),
        ("", None, 1.0, 0, "empty"),
        ("air max", None, 1.0, 0, None),
        ("air  max", None, 1.0, 0, "white_space"),
        ("air\tmax", None, 1.0, 0, "white_space"),
        ("air \nmax", None, 1.0, 0, "white_space"),
        ("北\u3000京", None, 1.0, 0, "white_space"),
        ("北\0京", None, 1.0, 0, "nul"),
        ("北\udfff", None, 1.0, 0, "not_unicode"),
        ("12345678", None, 1.0, 0, None),
        ("123456789", None, 1.0, 0, "too_long"),
        ("南京", ONES, 1.0, 4, "bad_vector"),
        ("南京", np.zeros(0, "f4"), 1.0, 0, "bad_vector"),
        ("南京", np.ones((1, 3), "f4"), 1.0, 3, "bad_vector"),
        ("南京", np.array([1, np.nan, 0], "f4"), 1.0, 3, "bad_vector"),
        ("南京", np.array([1, np.inf, 0], "f2"), 1.0, 3, "bad_vector"),
        ("南京", None, float("nan"), 0, "bad_weight"),
        ("南京", None, float("-inf"), 0, "bad_weight"),
        ("南京", None, 1e39, 0, "bad_weight"),
    ],
)
def test_faults(word, vector, weight, dim, expected):
    assert find_fault(LexiconEntry(word, vector, weight), dim, max_word_length=8) == expected
    assert expected is None or expected in REASONS


def test_every_white_space_is_found():
    spaces = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    assert [space for space in spaces if not INVALID.search(f"a{space}b")] == [" "]
    assert all(INVALID.search(f"a{space} b") and INVALID.search(f"a {space}b") for space in spaces)


@pytest.mark.parametrize("word", [None, b"a", 3])
def test_word_that_is_no_string(word):
    with pytest.raises(TypeError, match="must be a str; got"):
        to_stored(LexiconEntry(word), np.dtype("f4"), Normalization())


def test_word_in_place_of_an_entry():
    with pytest.raises(TypeError, match=r"Expected a LexiconEntry, got '南京'\. .* LexiconEntry\('南京'\)"):
        Lexicon.from_entries(["南京"])


@pytest.mark.parametrize("vector", ["GPE", [[1], [2, 3]], {1, 2}])
def test_vector_that_holds_no_numbers(vector):
    entry = LexiconEntry("南京", vector)
    for use in (lambda: Lexicon.from_entries([entry]), lambda: Lexicon.from_entries([]).with_words([entry])):
        with pytest.raises(LexiconError, match=r"The vector of '南京' is .*; expected .* numbers\. .*label="):
            use()


@pytest.mark.parametrize("width,expected", [(False, "Air\u3000Max"), (True, "Air Max")])
def test_white_space_at_the_edges_is_trimmed(width, expected):
    entry = LexiconEntry("\u3000 Air\u3000Max\t\n", ONES, 2.0, "SHOE")
    assert to_stored(entry, ONES.dtype, Normalization(width=width)) == (expected, *entry[1:])


@pytest.mark.parametrize("single", ["紫峰大厦", "", LexiconEntry("紫峰大厦")])
def test_one_word_in_place_of_several(single, lexicon):
    for refuse in (lexicon.with_words, lexicon.without_words, Lexicon.from_entries):
        with pytest.raises(LexiconError, match=r"Expected several words, got .* Put a single word in a list: \["):
            refuse(single)


def test_rule_that_makes_no_sense():
    assert find_fault(LexiconEntry("南京", rules=(Rule("force", "LOC"),)), 0, 8) is None
    assert find_fault(LexiconEntry("南京", rules=(Rule("forbid"), Rule("must"))), 0, 8) == "bad_rule"
    assert "bad_rule" in REASONS


def test_hash_is_the_same_on_every_machine():
    # Models and saved Docs hold these numbers: they must never change.
    assert hash_word("长江大桥") == 0xBC769E5F49F5A6FC
    assert hash_word("a") == 0x2F42665B399EF840


@given(st.text())
def test_hash_is_blake2b_of_the_utf8(word):
    expected = blake2b(word.encode("utf8"), digest_size=8).digest()
    assert hash_word(word).to_bytes(8, "little") == expected


def test_lone_surrogate_does_not_crash():
    assert hash_word("\ud800") != hash_word("\ud801")


def test_a_stream_knows_where_it_is():
    stream = EntryStream("a.txt", [(3, LexiconEntry("甲")), (7, LexiconEntry("乙"))])
    assert [(entry.word, stream.source, stream.line) for entry in stream] == [("甲", "a.txt", 3), ("乙", "a.txt", 7)]


@pytest.mark.parametrize(
    "given, labels",
    [
        ({}, ()),
        ({"label": "LOC"}, ("LOC",)),
        ({"labels": "LOC"}, ("LOC",)),
        ({"labels": ["FOOD", "", "BRAND", "FOOD"]}, ("FOOD", "BRAND")),
        ({"label": "BRAND", "labels": ("FOOD", "BRAND")}, ("BRAND", "FOOD")),
    ],
)
def test_labels(given, labels):
    entry = LexiconEntry("小米", **given)
    assert (entry.labels, entry.label) == (labels, labels[0] if labels else "")
    assert LexiconEntry("小米", None, 1.0, labels) == entry == pickle.loads(pickle.dumps(entry))
    assert entry._replace(weight=2.0).labels == labels


@pytest.mark.parametrize("label", ["A\x1fB", 3])
def test_faulty_labels(label):
    assert find_fault(LexiconEntry("小米", label=label), 0, max_word_length=8) == "bad_label"
    with pytest.raises(LexiconError, match="label is not a string, or contains a unit separator"):
        Lexicon.from_entries([]).with_words([LexiconEntry("小米", labels=("X", label))])


@pytest.mark.parametrize(
    "fields,reason,message",
    [
        ({"weight": None}, "bad_weight", "weight is not a finite number (the weight is None)"),
        ({"weight": "2"}, "bad_weight", "weight is not a finite number (the weight is '2')"),
        ({"entity_id": 42}, "bad_entity_id", "entity id is not a string (the entity id is 42)"),
        ({"entity_id": None}, "bad_entity_id", "entity id is not a string (the entity id is None)"),
        ({"rules": ("force", "A")}, "bad_rule", "invalid rule ('force' is not a rule; expected mode, label and weight"),
        (
            {"rules": [("force", "A")]},
            "bad_rule",
            "('force', 'A') is not a rule; expected mode, label and weight, such",
        ),
    ],
)
def test_fields_of_the_wrong_type(fields, reason, message):
    entry = LexiconEntry("小米", **fields)
    assert Lexicon.from_entries([entry]).report.skipped == {reason: 1} and reason in REASONS
    with pytest.raises(LexiconError, match=re.escape(message)):
        Lexicon.from_entries([]).with_words([entry])


@pytest.mark.parametrize("weight", [True, 2, np.float32(2.5), Fraction(5, 2), Decimal("2.5")])
def test_numbers_of_all_kinds(weight):
    assert Lexicon.from_entries([LexiconEntry("小米", weight=weight)]).get("小米").weight == float(weight)


@given(st.lists(st.text(st.characters(exclude_characters="\x1f"), min_size=1), unique=True).map(tuple))
def test_labels_come_back_from_text(labels):
    assert unpack_labels(pack_labels(labels)) == labels
