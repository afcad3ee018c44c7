import numpy as np
import pytest

from spacy_lexner.lexicon import Lexicon, LexiconEntry, hash_word
from spacy_lexner.lexicon.columns import distinct_rules, ruled_words, rules_of, vectors_of
from spacy_lexner.lexicon.rules import Rule

FORCE, FORBID = Rule("force", "LOC"), Rule("forbid")


@pytest.fixture
def levels():
    """A word that stays as it was, one that is changed, one that is taken out and one that is new."""
    lexicon = Lexicon.from_entries(LexiconEntry(word, [1.0, i], rules=(FORCE,)) for i, word in enumerate("甲乙丙"))
    changed = [LexiconEntry("乙", [2.0, 2.0], rules=(FORBID, FORCE)), LexiconEntry("丁")]
    return lexicon.without_words(["丙"]).with_words(changed)._levels


def rows(levels, words):
    return levels.rows(np.array([hash_word(word) for word in words], "u8"))


def test_vectors(levels):
    vectors, known = vectors_of(levels, rows(levels, "丁乙丙甲甲"))
    assert vectors.tolist() == [[0, 0], [2, 2], [0, 0], [1, 0], [1, 0]] and vectors.dtype == np.float32
    assert known.tolist() == [False, True, False, True, True]


def test_rules(levels):
    assert rules_of(levels, rows(levels, "丁乙丙甲甲")) == {1: (FORBID, FORCE), 3: (FORCE,), 4: (FORCE,)}


def test_no_words(levels):
    vectors, known = vectors_of(levels, rows(levels, ""))
    assert vectors.shape == (0, 2) and known.shape == (0,) and rules_of(levels, rows(levels, "")) == {}


def test_distinct_rules(levels):
    assert distinct_rules(levels) == {(FORCE,): "甲", (FORBID, FORCE): "乙"}
    assert distinct_rules(Lexicon.from_entries([LexiconEntry("甲")])._levels) == {}


def test_ruled_words(levels):
    found = {entry.word: entry for entry in ruled_words(levels)}
    assert {word: entry.rules for word, entry in found.items()} == {"甲": (FORCE,), "乙": (FORBID, FORCE)}
    assert found["甲"].vector is None
