import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from path_oracle import NEVER, Oracle
from tagging import SCHEME, free, random_outputs

from spacy_lexner.tagging.crf import Marginals
from spacy_lexner.tagging.spans.span_rules import SpanRules
from spacy_lexner.tagging.spans.tag_scheme import TagSpan
from spacy_lexner.tagging.tag_search import NoPathError, TagSearch, find_spans_above


def span_of(n):
    edges = st.tuples(st.integers(0, n - 1), st.integers(1, n)).filter(lambda edge: edge[0] < edge[1])
    return st.builds(lambda edge, label: TagSpan(*edge, label), edges, st.integers(0, 1))


@st.composite
def batches(draw):
    """Lengths, and rules for some of the Docs."""
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    rules = []
    for n in lengths:
        if not n or draw(st.booleans()):
            rules.append(SpanRules())
            continue
        forced = tuple(draw(st.lists(span_of(n), max_size=2, unique=True)))
        weights = draw(st.dictionaries(span_of(n), st.sampled_from([NEVER, -1.0, 4.0]), max_size=3))
        rules.append(SpanRules(forced, {span: w for span, w in weights.items() if w > NEVER or span not in forced}))
    return lengths, rules, draw(st.integers(0, 999))


@settings(max_examples=60, deadline=None)
@given(batches())
def test_against_all_paths(batch):
    """The best paths, their probabilities and those of spans, of Docs with and without rules, in one batch."""
    lengths, rules, seed = batch
    outputs, allowed = random_outputs(seed, lengths), free(lengths)
    search = TagSearch(outputs, allowed, rules)
    best, paths, probable = search.best(), search.k_best(4), search.spans_above(0.02)
    oracles = [
        Oracle(SCHEME, emissions.astype("f8"), outputs[1].astype("f8"), mask, decreed)
        for emissions, mask, decreed in zip(outputs[0], allowed, rules)
    ]
    spans = [sorted({span for found in oracle.paths for span in found}) for oracle in oracles]
    scores = search.span_scores(spans)
    for i, oracle in enumerate(oracles):
        found = tuple(SCHEME.decode(best[i]))
        assert oracle.paths[found] == pytest.approx(max(oracle.paths.values()))
        expected = sorted(np.exp(np.array(list(oracle.paths.values())) - oracle.log_z), reverse=True)[:4]
        assert [path.probability for path in paths[i]] == pytest.approx(expected)
        for path in paths[i]:
            score = oracle.paths[tuple(SCHEME.decode(path.tags))]
            assert path.probability == pytest.approx(np.exp(score - oracle.log_z))
        assert list(scores[i]) == pytest.approx([oracle.probability(span) for span in spans[i]])
        expected = {span: oracle.probability(span) for span in spans[i]}
        assert dict(probable[i]) == pytest.approx({span: p for span, p in expected.items() if p >= 0.02})


def test_without_rules_it_is_the_same_search():
    lengths = [5, 0, 7]
    outputs, allowed = random_outputs(1, lengths), free(lengths)
    plain, none = TagSearch(outputs, allowed), TagSearch(outputs, allowed, [SpanRules()] * 3)
    assert [path.tolist() for path in plain.best()] == [path.tolist() for path in none.best()]


def test_rules_in_a_text_of_many_windows():
    """A long text is searched in windows, with or without rules; each rule applies in its place."""
    n = 20_000
    outputs, allowed = random_outputs(2, [n]), free([n])
    rng = np.random.default_rng(0)
    starts = rng.choice(np.arange(0, n - 10, 10), 300, replace=False)
    forced = tuple(TagSpan(int(start), int(start) + 3, int(start) % 2) for start in starts[:100])
    nested = tuple(TagSpan(span.start + 1, span.end + 2, span.label) for span in forced[:50])
    weights = {TagSpan(int(s), int(s) + 4, 0): 50.0 if i % 2 else NEVER for i, s in enumerate(starts[100:])}
    search = TagSearch(outputs, allowed, [SpanRules(forced + nested, weights)])
    found = set(SCHEME.decode(search.best()[0]))
    assert set(forced[50:]) <= found
    assert all((first in found) != (second in found) for first, second in zip(forced, nested))
    assert all((span in found) == (weight > 0) for span, weight in weights.items())
    spans = [*forced[50:], *weights]
    scores = search.span_scores([spans])[0]
    assert scores[:50] == pytest.approx(1) and (scores[50:][[w == NEVER for w in weights.values()]] == 0).all()


def test_spans_above_a_threshold_in_a_text_of_many_windows():
    n = 9_000
    outputs, allowed = random_outputs(4, [n, 0, 3], scale=3.0), free([n, 0, 3])
    search = TagSearch(outputs, allowed, [SpanRules(weights={TagSpan(50, 53, 0): 3.0}), SpanRules(), SpanRules()])
    found = search.spans_above(0.3)
    scores = search.span_scores([[span for span, _ in own] for own in found])
    assert len(found[0]) > 500 and not found[1]
    for own, again in zip(found, scores):
        assert [p for _, p in own] == pytest.approx(again)


def test_a_path_of_a_long_text_keeps_its_probability():
    """As a logarithm, since no float can represent it."""
    n = 4000
    paths = TagSearch(random_outputs(5, [n], scale=0.1), free([n])).k_best(2)[0]
    assert len(paths) == 2 and paths[0].probability == 0 > paths[0].log_probability > paths[1].log_probability


def test_no_path():
    outputs, allowed = random_outputs(3, [2, 1, 2]), free([2, 1, 2])
    allowed[1][:] = False
    impossible = SpanRules(weights={TagSpan(0, 2, 0): NEVER})
    allowed[2][:, 0] = False  # no token is outside, and only one span is left
    allowed[2][:, [3, 4, 5, 6, 7, 8]] = False
    allowed[2][1, 3] = True
    with pytest.raises(NoPathError, match=r"Documents \[1, 2\] of the batch have no tag path") as error:
        TagSearch(outputs, allowed, [SpanRules(), SpanRules(), impossible]).best()
    assert error.value.docs == [1, 2]
    assert TagSearch(outputs, allowed, [SpanRules()] * 3).k_best(2)[1] == []


def make_marginals(*arrays):
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
    marginals = make_marginals(unary, np.ones((3, 8)), weights, np.ones((3, 8)))
    [(span, p)] = find_spans_above(marginals, tags, 0.5)
    assert span == TagSpan(0, 3, 0) and p == pytest.approx(0.6)
    assert find_spans_above(marginals, tags, 0.61) == []


def test_no_spans_above():
    marginals = make_marginals(*map(np.zeros, [(0, 5), (0, 5), (5, 5), (0, 5)]))
    assert find_spans_above(marginals, np.arange(5), 0.1) == []
    marginals = make_marginals(*map(np.ones, [(2, 1), (2, 1), (1, 1), (2, 1)]))
    assert find_spans_above(marginals, np.zeros(1, dtype=np.int64), 0.1) == []
