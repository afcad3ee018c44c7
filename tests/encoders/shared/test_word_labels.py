import warnings

import numpy as np
import pytest

from spacy_lexner.encoders.shared.word_labels import LabelNumbers, load_labels, stack_labels
from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.lexicon.errors import LexiconWarning

LEXICON = Lexicon.from_entries(
    [LexiconEntry("小米", labels=("BRAND", "FOOD")), LexiconEntry("南京", label="LOC"), LexiconEntry("的")]
)


def hashes(*words):
    return np.array([LEXICON.hash(word) for word in words], "u8")


def test_numbers():
    numbers = LabelNumbers(["BRAND", "FOOD", "LOC"])
    assert numbers(LEXICON, hashes("的", "小米", "南京", "无")).tolist() == [[0, 0], [1, 2], [3, 0], [0, 0]]
    assert numbers(LEXICON, hashes("的")).shape == (1, 0) and numbers(LEXICON, hashes()).shape == (0, 0)
    assert numbers(Lexicon.from_entries([LexiconEntry("小米")]), hashes("小米")).shape == (1, 0)


def test_unknown_labels_have_no_effect_and_are_named_once():
    numbers = LabelNumbers(["LOC"])
    with pytest.warns(LexiconWarning, match="ignores them: BRAND, FOOD.*It knows LOC"):
        assert numbers(LEXICON, hashes("小米", "南京")).tolist() == [[0], [1]]
    changed = LEXICON.with_words([LexiconEntry("南京", labels=("LOC", "CITY"))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numbers(LEXICON, hashes("小米", "南京"))
    with pytest.warns(LexiconWarning, match="ignores them: CITY. "):
        assert numbers(changed, hashes("小米", "南京")).tolist() == [[0], [1]]


def test_those_of_several_lexicons():
    parts = [np.array([[1, 2]]), np.zeros((2, 0), "i8"), np.array([[3]])]
    assert stack_labels(parts).tolist() == [[1, 2], [0, 0], [0, 0], [3, 0]]
    assert stack_labels([]).shape == (0, 0)


def test_equal_labels_share_a_lookup():
    assert load_labels(("A", "B")) is load_labels(("A", "B")) is not load_labels(("B",))
