"""The search under the tag set of NCRF++ against a search through all paths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ncrf_oracle import SCHEME, TAGS, N, allow, enumerate_paths, make

from spacy_lexner.tagging.ncrf.search import NCRFSearch
from spacy_lexner.tagging.ncrf.tags import ncrf_states
from spacy_lexner.tagging.spans.span_rules import SpanRules
from spacy_lexner.tagging.spans.tag_scheme import TagSpan


def search(outputs, allowed, rules=None):
    return NCRFSearch(outputs, allowed, ncrf_states(TAGS), rules)


def check(found, paths, n_tokens):
    best = max(paths, key=lambda pair: pair[1])
    assert set(SCHEME.decode(found.best()[0])) == best[0]
    total = np.logaddexp.reduce([score for _, score in paths])
    spans = sorted({span for spans, _ in paths for span in spans})
    expected = [np.exp(np.logaddexp.reduce([s for spans, s in paths if span in spans]) - total) for span in spans]
    np.testing.assert_allclose(found.span_scores([spans])[0], expected, atol=1e-6)
    readings = found.readings(5)[0]
    scores = sorted((score for _, score in paths), reverse=True)[:5]
    np.testing.assert_allclose(
        [reading.probability for reading in readings], np.exp(np.array(scores) - total), atol=1e-6
    )
    assert all(len(reading.tags) == n_tokens for reading in readings)


@pytest.mark.parametrize("seed", range(4))
def test_is_the_search_through_all_paths(seed):
    (emissions, transitions) = make(seed, 3)
    check(search((emissions, transitions), allow(3)), list(enumerate_paths(emissions[0], transitions)), 3)


@settings(max_examples=8)
@given(st.integers(0, 1000), st.sampled_from([(0, 2, 0), (1, 3, 0), (0, 1, 1)]), st.sampled_from([-np.inf, 1.5, -2.0]))
def test_rules_about_spans(seed, place, weight):
    outputs = make(seed, 3)
    span = TagSpan(*place)
    paths = [
        (spans, score + (weight if span in spans else 0.0))
        for spans, score in enumerate_paths(outputs[0][0], outputs[1])
    ]
    rules = [SpanRules(weights={span: weight})]
    check(search(outputs, allow(3), rules), [path for path in paths if path[1] > -np.inf], 3)


def test_a_forced_span():
    outputs = make(5, 3)
    span = TagSpan(1, 3, 0)
    paths = [path for path in enumerate_paths(outputs[0][0], outputs[1]) if span in path[0]]
    found = search(outputs, allow(3), [SpanRules(forced=(span,))])
    check(found, paths, 3)
    assert found.span_scores([[span]])[0][0] == pytest.approx(1.0)


def test_what_tokens_may_not_have():
    outputs, allowed = make(6, 3), allow(3)
    allowed[0][1] = False
    allowed[0][1, 0] = True
    paths = [
        path
        for path in enumerate_paths(outputs[0][0], outputs[1])
        if not any(span.start <= 1 < span.end for span in path[0])
    ]
    check(search(outputs, allowed), paths, 3)


def test_a_batch_is_its_docs_and_an_empty_doc_has_an_empty_path():
    emissions, transitions = make(7, 3, 2, 4)
    emissions.insert(1, np.zeros((0, N), "f4"))
    spans = [[TagSpan(0, 2, 0)], [], [TagSpan(1, 2, 1)], [TagSpan(0, 1, 0), TagSpan(1, 4, 0)]]
    rules = [SpanRules(), SpanRules(), SpanRules(weights={TagSpan(0, 1, 1): 2.0}), SpanRules()]
    together = search((emissions, transitions), allow(3, 0, 2, 4), rules)
    best, scores = together.best(), together.span_scores(spans)
    assert len(best[1]) == 0 and together.readings(2)[1] == []
    for i in (0, 2, 3):
        alone = search(([emissions[i]], transitions), allow(len(emissions[i]) - 2), [rules[i]])
        assert alone.best()[0].tolist() == best[i].tolist()
        np.testing.assert_allclose(alone.span_scores([spans[i]])[0], scores[i], atol=1e-9)
