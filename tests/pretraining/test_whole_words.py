import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.pretraining.whole_words import covers_any, longest_words

TEXT = "南京市长江大桥"
WORDS = {"南京": (0, 1), "南京市": (0, 2), "市长": (2, 3), "长江": (3, 4), "长江大桥": (3, 6), "大桥": (5, 6)}


@st.composite
def candidates(draw):
    n = draw(st.integers(1, 30))
    spans = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, 5)), max_size=40))
    return n, np.array([a for a, _ in spans], int), np.array([min(a + k, n - 1) for a, k in spans], int)


def test_the_longest_word_wins_from_left_to_right():
    first, last = np.array(list(WORDS.values())).T
    assert longest_words(first, last, len(TEXT)).tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert longest_words(first[2:3], last[2:3], len(TEXT)).tolist() == [0, 1, 2, 2, 3, 4, 5]
    assert longest_words(np.zeros(0, int), np.zeros(0, int), 3).tolist() == [0, 1, 2]
    assert longest_words(np.zeros(0, int), np.zeros(0, int), 0).tolist() == []


@given(candidates())
def test_words_are_single_tokens_or_candidates(spans):
    n, first, last = spans
    words = longest_words(first, last, n)
    assert words[0] == 0 and set(np.diff(words).tolist()) <= {0, 1}
    known = set(zip(first.tolist(), last.tolist()))
    for word in range(words[-1] + 1):
        (tokens,) = np.nonzero(words == word)
        assert len(tokens) == 1 or (tokens[0], tokens[-1]) in known
        assert all(b <= tokens[-1] for a, b in known if a == tokens[0])


@given(candidates(), st.data())
def test_covering_is_what_a_loop_says(spans, data):
    n, first, last = spans
    positions = data.draw(st.lists(st.integers(0, n - 1), max_size=5))
    expected = [any(a <= p <= b for p in positions) for a, b in zip(first, last)]
    assert covers_any(first, last, np.array(positions, int), n).tolist() == expected
