import numpy as np
import pytest

from spacy_lexner.lexicon import Lexicon, LexiconEntry, hash_word
from spacy_lexner.lexicon.rules import Rule

FORCE, FORBID = Rule("force", "LOC"), Rule("forbid")


@pytest.fixture
def levels():
    """A word that is unchanged, one that is changed, one that is removed and one that is new."""
    lexicon = Lexicon.from_entries(LexiconEntry(word, [1.0, i], rules=(FORCE,)) for i, word in enumerate("甲乙丙"))
    changed = [LexiconEntry("乙", [2.0, 2.0], rules=(FORBID, FORCE)), LexiconEntry("丁")]
    return lexicon.without_words(["丙"]).with_words(changed)


def hashes(words):
    return np.array([hash_word(word) for word in words], "u8")


def test_vectors(levels):
    vectors, known = levels.vectors(hashes("丁乙丙甲甲"))
    assert vectors.tolist() == [[0, 0], [2, 2], [0, 0], [1, 0], [1, 0]] and vectors.dtype == np.float32
    assert known.tolist() == [False, True, False, True, True]


def test_rules(levels):
    assert levels.rules(hashes("丁乙丙甲甲")) == {1: (FORBID, FORCE), 3: (FORCE,), 4: (FORCE,)}
    assert set(levels.distinct_rules()) == {(FORBID, FORCE), (FORCE,)} and levels.has_rules
    assert not levels.has_labels and levels.labels(hashes("甲")) == {} and levels.distinct_labels() == set()


def test_no_words(levels):
    vectors, known = levels.vectors(hashes(""))
    assert vectors.shape == (0, 2) and known.shape == (0,) and levels.rules(hashes("")) == {}


def spelled(lexicon, text, min_length=1, max_length=None):
    starts, ends, _ = lexicon.match(text, min_length, max_length)
    return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist())]


def test_base_and_changes_in_one_order(lexicon):
    changed = lexicon.with_words(["长江大", "江", "市"]).without_words(["大桥", "京"])
    assert spelled(changed, "市长江大桥") == ["市", "市长", "长江", "长江大", "长江大桥", "江", "江大桥"]
    assert spelled(changed, "市长江大桥", 2, 3) == ["市长", "长江", "长江大", "江大桥"]
