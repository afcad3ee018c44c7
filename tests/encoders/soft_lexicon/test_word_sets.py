"""The word sets against their definition, written out character by character."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.encoders.soft_lexicon.word_sets import (
    BEGIN,
    END,
    MIDDLE,
    N_SETS,
    SINGLE,
    count_words,
    find_covered,
    sort_into_sets,
)
from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher

N_UNITS = 6
SPANS = st.tuples(st.integers(0, N_UNITS - 1), st.integers(1, N_UNITS)).filter(lambda span: span[0] < span[1])


def columns(spans):
    starts, ends = np.array(sorted(spans), "i8").reshape(-1, 2).T
    return starts, ends


@given(st.sets(SPANS), st.lists(st.integers(0, 3), min_size=21, max_size=21))
def test_sets_and_weights(spans, counts):
    starts, ends = columns(spans)
    frequencies = np.array(counts[: len(starts)], "f8")
    sets = sort_into_sets(starts, ends, frequencies, N_UNITS)
    place = 0
    for unit in range(N_UNITS):
        expected = [{} for _ in range(N_SETS)]
        for word, (start, end) in enumerate(zip(starts.tolist(), ends.tolist())):
            if start <= unit < end:
                single, first, last = end - start == 1, unit == start, unit == end - 1
                kind = SINGLE if single else BEGIN if first else END if last else MIDDLE
                expected[kind][word] = 1.0 if single else frequencies[word]
        for own in expected:
            if not any(own.values()):
                own.update(dict.fromkeys(own or [-1], 1.0))
        total = sum(sum(own.values()) for own in expected)
        for kind, own in enumerate(expected):
            some = slice(place, place := place + sets.sizes[unit, kind])
            found = dict(zip(sets.words[some].tolist(), sets.weights[some].tolist()))
            assert found == pytest.approx({word: 4 * z / total for word, z in own.items()}, rel=1e-6)
    assert place == len(sets.words) == len(sets.weights)


@given(st.sets(SPANS))
def test_what_a_longer_span_covers(spans):
    starts, ends = columns(spans)
    expected = [
        any(other != span and other[0] <= span[0] and span[1] <= other[1] for other in spans) for span in sorted(spans)
    ]
    assert find_covered(starts, ends).tolist() == expected


def test_words_are_counted_text_by_text():
    matcher = Matcher(Lexicon.from_entries(map(LexiconEntry, ["南京", "南京市", "市长"])))
    texts = ["南京市长", "", "南京南京", "南", "京市"] * 300
    hashes, counts = count_words(matcher, texts)
    assert np.all(np.diff(hashes.astype("f8")) > 0)
    assert sorted(counts.tolist()) == [300, 300, 600]
    nothing, none = count_words(matcher, [])
    assert len(nothing) == len(none) == 0
