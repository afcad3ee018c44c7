"""The search itself is tested with that for paths (test_tag_search), against all readings."""

import numpy as np

from spacy_lexner.tagging.crf_windows import Conditionals
from spacy_lexner.tagging.likely_spans import find_likely_spans
from spacy_lexner.tagging.spans.tag_scheme import TagSpan


def test_two_states_of_a_tag_count_together():
    """B I E in either of two copies of the tags; neither copy alone reaches the bound."""
    tags = np.array([0, 1, 2, 3, 4, 1, 2, 3])
    unary = np.zeros((3, 8))
    for token, (a, b) in enumerate([(1, 5), (2, 6), (3, 7)]):
        unary[token, [a, b]] = 0.3
        unary[token, 0] = 0.4
    weights = np.zeros((8, 8))
    for a, b in [(1, 2), (2, 3), (5, 6), (6, 7), (0, 0)]:
        weights[a, b] = 1.0
    given = Conditionals(unary, np.ones((3, 8)), np.ones((3, 8)), weights)
    [(span, p)] = find_likely_spans(given, tags, 0.5)
    assert span == TagSpan(0, 3, 0) and np.isclose(p, 0.6)
    assert find_likely_spans(given, tags, 0.61) == []


def test_nothing():
    given = Conditionals(np.zeros((0, 5)), np.zeros((0, 5)), np.zeros((0, 5)), np.zeros((5, 5)))
    assert find_likely_spans(given, np.arange(5), 0.1) == []
    given = Conditionals(np.ones((2, 1)), np.ones((2, 1)), np.ones((2, 1)), np.ones((1, 1)))
    assert find_likely_spans(given, np.zeros(1, dtype=np.int64), 0.1) == []
