"""The search itself is tested with that for paths (test_tag_search), against all paths."""

import numpy as np
import torch

from spacy_lexner.tagging.crf import Marginals
from spacy_lexner.tagging.spans.tag_scheme import TagSpan
from spacy_lexner.tagging.spans_above import find_spans_above


def make(*arrays):
    return Marginals(*map(torch.from_numpy, arrays))


def test_two_states_of_a_tag_count_together():
    """B I E in either of two copies of the tags; neither copy alone reaches the threshold."""
    tags = np.array([0, 1, 2, 3, 4, 1, 2, 3])
    unary = np.zeros((3, 8))
    for token, (a, b) in enumerate([(1, 5), (2, 6), (3, 7)]):
        unary[token, [a, b]] = 0.3
        unary[token, 0] = 0.4
    weights = np.zeros((8, 8))
    for a, b in [(1, 2), (2, 3), (5, 6), (6, 7), (0, 0)]:
        weights[a, b] = 1.0
    marginals = make(unary, np.ones((3, 8)), weights, np.ones((3, 8)))
    [(span, p)] = find_spans_above(marginals, tags, 0.5)
    assert span == TagSpan(0, 3, 0) and np.isclose(p, 0.6)
    assert find_spans_above(marginals, tags, 0.61) == []


def test_nothing():
    marginals = make(*map(np.zeros, [(0, 5), (0, 5), (5, 5), (0, 5)]))
    assert find_spans_above(marginals, np.arange(5), 0.1) == []
    marginals = make(*map(np.ones, [(2, 1), (2, 1), (1, 1), (2, 1)]))
    assert find_spans_above(marginals, np.zeros(1, dtype=np.int64), 0.1) == []
