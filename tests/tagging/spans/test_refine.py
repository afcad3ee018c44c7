import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from path_oracle import Oracle
from tolerance import near

from spacy_lexner.tagging import crf
from spacy_lexner.tagging.spans.refine import refine
from spacy_lexner.tagging.spans.span_rules import NEVER, SpanRules
from spacy_lexner.tagging.spans.tag_scheme import TagScheme, TagSpan

UNKNOWN = 1  # added to the number of labels: a label that the tags do not have


def solve(emissions, transitions, allowed, rules):
    """A batch of one text in the states of its rules: a trellis for `tagging.crf`, and the text."""
    states, [text] = refine([allowed], [rules])
    refined = emissions[:, states.scored].copy()
    for token, state, weight in text.weights:
        refined[token, state] += weight
    rows = [*states.scored, len(transitions) - 1]
    tensors = (refined, transitions[np.ix_(rows, rows)], text.allowed, states.legal.copy())
    return crf.Trellis(*map(torch.from_numpy, tensors), [len(emissions)]), states, text


def check(scheme, n, rules, seed=0, allowed=None):
    rng = np.random.default_rng(seed)
    emissions, transitions = rng.normal(size=(n, scheme.n_tags)), rng.normal(size=(scheme.n_tags + 1,) * 2)
    allowed = np.ones((n, scheme.n_tags), bool) if allowed is None else allowed
    oracle = Oracle(scheme, emissions, transitions, allowed, rules)
    problem, states, text = solve(emissions, transitions, allowed, rules)
    log_z = crf.log_partition(problem)[0].item()
    if not oracle.paths:
        assert log_z == oracle.log_z == NEVER
        return oracle
    n_terms, scale = n * emissions.shape[1] + len(oracle.paths), [emissions, transitions, list(oracle.paths.values())]
    assert log_z == near(oracle.log_z, n_terms, scale, "float64")
    best = crf.viterbi(problem)
    path = tuple(scheme.decode(states.tags[best.tags.numpy()]))
    assert oracle.paths[path] == near(best.scores.item(), n_terms, scale, "float64")
    assert best.scores.item() == near(max(oracle.paths.values()), n_terms, scale, "float64")
    for span in {span for spans in oracle.paths for span in spans}:
        found = 0.0
        for run in text.runs(span):
            mask = problem.allowed.clone()
            mask[span.start : span.end] = False
            mask[np.arange(span.start, span.end), run] = True
            found += float((crf.log_partition(problem._replace(allowed=mask))[0] - log_z).exp())
        assert found == near(oracle.probability(span), n_terms, scale, "float64")
    return oracle


ONE, TWO = TagScheme(["A"]), TagScheme(["A", "B"])


@st.composite
def problems(draw, scheme, max_length, max_forced, max_weights):
    n = draw(st.integers(1, max_length))
    edges = st.tuples(st.integers(0, n - 1), st.integers(1, n)).filter(lambda edge: edge[0] < edge[1])
    n_labels = len(scheme.labels)
    span = st.builds(lambda edge, label: TagSpan(*edge, label), edges, st.integers(0, n_labels - 1))
    forced = st.builds(lambda edge, label: TagSpan(*edge, label), edges, st.integers(0, n_labels - 1 + UNKNOWN))
    weight = st.sampled_from([NEVER, -2.0, 0.5, 3.0])
    rules = SpanRules(
        tuple(draw(st.lists(forced, max_size=max_forced, unique=True))),
        draw(st.dictionaries(span, weight, max_size=max_weights)),
    )
    # As rules of one word are checked before: a forced span is not forbidden.
    weights = {span: w for span, w in rules.weights.items() if w > NEVER or span not in rules.forced}
    return n, rules._replace(weights=weights), draw(st.integers(0, 99))


@settings(max_examples=80, deadline=None)
@given(problems(TWO, max_length=5, max_forced=3, max_weights=6))
def test_against_all_paths(problem):
    n, rules, seed = problem
    assert check(TWO, n, rules, seed).paths


@settings(max_examples=70, deadline=None)
@given(problems(ONE, max_length=8, max_forced=7, max_weights=5))
def test_many_forced_spans_against_all_paths(problem):
    n, rules, seed = problem
    assert check(ONE, n, rules, seed).paths


@settings(max_examples=40, deadline=None)
@given(problems(TWO, max_length=5, max_forced=0, max_weights=6), st.integers(0, 99))
def test_tags_that_are_not_allowed(problem, mask_seed):
    n, rules, seed = problem
    check(TWO, n, rules, seed, np.random.default_rng(mask_seed).random((n, TWO.n_tags)) < 0.7)


def spans(*edges, label=0):
    return tuple(TagSpan(start, end, label) for start, end in edges)


def test_nested_forced_spans():
    """A long word contains two short ones: either the long one or both short ones, whichever scores higher."""
    oracle = check(ONE, 6, SpanRules(spans((1, 5), (1, 3), (3, 5))))
    sets = {frozenset(spans_) & frozenset(spans((1, 5), (1, 3), (3, 5))) for spans_ in oracle.paths}
    assert sets == {frozenset(spans((1, 5))), frozenset(spans((1, 3), (3, 5)))}


def test_runs_of_different_reach_meet():
    """The case that needs a second colour: after (0, 2) the run must end before 6, after (1, 3) before 9."""
    forced = spans((0, 2), (1, 3), (2, 6), (5, 9))
    for seed in range(5):
        check(ONE, 9, SpanRules(forced, {TagSpan(3, 5, 0): 2.0, TagSpan(2, 4, 0): 1.0}), seed)
    _, [text] = refine([np.ones((9, 5), bool)], [SpanRules(forced)])
    assert text.layout.n_colours == 2


def test_rules_of_a_batch_share_their_states():
    masks = [np.ones((n, TWO.n_tags), bool) for n in (4, 3, 2)]
    rules = [SpanRules(weights={TagSpan(0, 3, 1): 1.0}), SpanRules(), SpanRules(spans((0, 1), (0, 2)))]
    states, texts = refine(masks, rules)
    assert len(states.tags) == TWO.n_tags + 4 + 8 == texts[0].allowed.shape[1]
    assert texts[1].allowed.sum() == masks[1].sum() and not len(texts[1].weights)
    assert states.legal.shape == (len(states.tags) + 1,) * 2


def test_nothing_is_added_without_need():
    """Spans of one token, and forced spans that overlap no other, need only tags."""
    rules = SpanRules(spans((0, 2), (2, 4)), {TagSpan(5, 6, 1): 1.0, TagSpan(4, 5, 0): NEVER})
    states, [text] = refine([np.ones((6, TWO.n_tags), bool)], [rules])
    assert len(states.tags) == TWO.n_tags and text.allowed[:4].sum() == 4
    assert [len(text.runs(span)) for span in spans((0, 2), (1, 2), (4, 5), (4, 6))] == [1, 0, 0, 1]
