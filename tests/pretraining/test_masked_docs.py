import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.candidates.batch_words import BatchWords
from spacy_lexner.pretraining.masked_docs import longest_words
from spacy_lexner.pretraining.mlm import hide_masked

TEXT = "南京市长江大桥"
WORDS = {"南京": (0, 2), "南京市": (0, 3), "市长": (2, 4), "长江": (3, 5), "长江大桥": (3, 7), "大桥": (5, 7)}


@st.composite
def candidates(draw):
    n = draw(st.integers(1, 30))
    spans = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, 5)), max_size=40))
    return n, np.array([a for a, _ in spans], int), np.array([min(a + k, n - 1) + 1 for a, k in spans], int)


def test_the_longest_word_wins_from_left_to_right():
    starts, ends = np.array(list(WORDS.values())).T
    assert longest_words(starts, ends, len(TEXT)).tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert longest_words(starts[2:3], ends[2:3], len(TEXT)).tolist() == [0, 1, 2, 2, 3, 4, 5]
    assert longest_words(np.zeros(0, int), np.zeros(0, int), 3).tolist() == [0, 1, 2]
    assert longest_words(np.zeros(0, int), np.zeros(0, int), 0).tolist() == []


@given(candidates())
def test_words_are_single_tokens_or_candidates(spans):
    n, starts, ends = spans
    words = longest_words(starts, ends, n)
    assert words[0] == 0 and set(np.diff(words).tolist()) <= {0, 1}
    known = set(zip(starts.tolist(), ends.tolist()))
    for word in range(words[-1] + 1):
        (tokens,) = np.nonzero(words == word)
        assert len(tokens) == 1 or (tokens[0], tokens[-1] + 1) in known
        assert all(b <= tokens[-1] + 1 for a, b in known if a == tokens[0])


@given(candidates(), st.data())
def test_a_word_is_hidden_by_masked_units_that_it_covers(spans, data):
    n, starts, ends = spans
    masked = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    words = BatchWords(starts, ends, starts, starts, starts, [])
    expected = [(a, b) for a, b in zip(starts.tolist(), ends.tolist()) if not masked[a:b].any()]
    visible = hide_masked(words, masked)
    assert list(zip(visible.starts.tolist(), visible.ends.tolist())) == expected
