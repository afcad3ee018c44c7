import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.annotation.select import Candidate, choose

CANDIDATES = st.lists(st.builds(Candidate, st.floats(0, 1), st.frozensets(st.integers(0, 12), max_size=5)), max_size=12)


def test_uncertainty_alone():
    candidates = [Candidate(uncertainty, frozenset([1])) for uncertainty in (0.1, 0.9, 0.5)]
    assert [choice.number for choice in choose(candidates, 2, diversity=0)] == [1, 2]


def test_words_that_were_chosen_before_are_no_news():
    candidates = [Candidate(0.9, frozenset([1, 2])), Candidate(0.8, frozenset([1, 2])), Candidate(0.5, frozenset([3]))]
    choices = choose(candidates, 3)
    assert [choice.number for choice in choices] == [0, 2, 1]
    assert [choice.novelty for choice in choices] == [1.0, 1.0, 0.0]
    assert [choice.worth for choice in choices] == [0.9, 0.5, 0.4]
    assert choose(candidates, 1, known=[1, 2])[0].number == 2


def test_texts_without_words():
    assert [choice.number for choice in choose([Candidate(0.4, frozenset()), Candidate(0.3, frozenset([1]))], 2)] == [
        1,
        0,
    ]
    assert choose([], 3) == []


def test_errors():
    with pytest.raises(ValueError, match=r"diversity is 1\.5; expected a number from 0"):
        choose([], 1, diversity=1.5)


@given(CANDIDATES, st.integers(1, 12), st.frozensets(st.integers(0, 12)), st.floats(0, 1))
def test_lazy_search_is_greedy_search(candidates, n, known, diversity):
    def value(number):
        uncertainty, words = candidates[number]
        return uncertainty * (1 - diversity * (1 - (len(words - seen) / len(words) if words else 0.0)))

    seen, left, expected = set(known), set(range(len(candidates))), []
    while left and len(expected) < n:
        best = max(left, key=lambda number: (value(number), -number))
        expected.append((best, value(best)))
        left.remove(best)
        seen |= candidates[best].words
    assert [(c.number, c.worth) for c in choose(candidates, n, known=known, diversity=diversity)] == expected
