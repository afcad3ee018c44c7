import numpy as np
import pytest
from tolerance import near

from spacy_lexner.lexicon.composed_vectors import CompositionReport, compose_vectors
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.errors import LexiconError
from spacy_lexner.lexicon.lexicon import Lexicon


def lexicon(**vectors):
    return Lexicon.from_entries([LexiconEntry(word, np.array(vector, "f4")) for word, vector in vectors.items()])


KNOWN = lexicon(南京=[1, 0], 大桥=[0, 2], 长江=[4, 0], 桥=[9, 9])
CHARACTERS = lexicon(市=[1, 1], 区=[3, 1])


def compose(words, characters=None):
    report = CompositionReport()
    entries = list(
        compose_vectors([LexiconEntry(word, weight=3.0) for word in words], KNOWN, characters, report=report)
    )
    assert all(entry.weight == 3.0 for entry in entries)
    return [entry.vector.tolist() for entry in entries], report


def test_rule():
    vectors, report = compose(["南京", "南京长江大桥", "市区", "石桥", "无"], CHARACTERS)
    assert vectors == [[1, 0], near([5 / 3, 2 / 3], n_terms=3), [2, 1], [0, 0], [0, 0]]
    assert report == CompositionReport(known=1, from_words=1, from_characters=1, zero=2)
    assert "2 without any known part" in str(report)


def test_characters_default_to_the_known_words():
    assert compose(["石桥"])[0] == [[9, 9]]


def test_own_vector_wins():
    entry = LexiconEntry("南京", np.array([7, 7], "f4"))
    assert next(compose_vectors([entry], KNOWN)).vector.tolist() == [7, 7]


def test_own_vector_of_another_width_is_refused_where_it_is_added():
    for width in (1, 3):
        entry = LexiconEntry("南京", np.ones(width, "f4"))
        with pytest.raises(LexiconError, match=rf"expected 2 dimensions, got the shape \[{width}\]"):
            KNOWN.with_words(compose_vectors([entry], KNOWN))


def test_many_batches():
    assert len(list(compose_vectors([LexiconEntry("南京市")] * 25_000, KNOWN))) == 25_000


def test_widths_must_agree():
    with pytest.raises(ValueError, match="of the same width"):
        list(compose_vectors([], KNOWN, lexicon(市=[1, 2, 3])))
    with pytest.raises(ValueError, match="0 dimensions"):
        list(compose_vectors([], Lexicon.from_entries([LexiconEntry("市")])))
