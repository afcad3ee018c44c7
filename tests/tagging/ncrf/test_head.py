"""The loss and the search with NCRF++'s tag set, compared with all paths."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ncrf_oracle import SCHEME, TAGS, N, allow, enumerate_paths, make
from tagging import tags_of
from tolerance import assert_close, near, slope, tolerance

from spacy_lexner.tagging.ncrf.head import NCRFHead
from spacy_lexner.tagging.spans.span_rules import SpanRules
from spacy_lexner.tagging.spans.tag_scheme import TagSpan

HEAD = NCRFHead("sum", TAGS)
N_TERMS = N**6  # the sum over all paths, of at most four tokens and the frame


def gold(spans, n_tokens):
    mask = np.zeros((n_tokens, SCHEME.n_tags), dtype=bool)
    mask[np.arange(n_tokens), tags_of(spans, n_tokens)] = True
    return mask


def path_score(emissions, transitions, path):
    emissions, transitions = emissions.astype("f8"), transitions.astype("f8")
    score = transitions[-1, path[0]] + transitions[path[-1], -1] + sum(emissions[i, tag] for i, tag in enumerate(path))
    return score + sum(transitions[a, b] for a, b in itertools.pairwise(path))


def test_the_loss_is_that_of_the_tags_which_spell_the_annotation():
    emissions, transitions = make(1, 3)
    loss, _ = HEAD.loss((emissions, transitions), allow(3), [gold([TagSpan(0, 3, 0)], 3)], [[]])
    path = [0, TAGS.index("B-A"), TAGS.index("M-A"), TAGS.index("E-A"), 0]
    total = np.logaddexp.reduce([score for _, score in enumerate_paths(emissions[0], transitions)])
    assert loss == near(total - path_score(emissions[0], transitions, path), N_TERMS, total, "float64")


def test_missing_annotation_costs_nothing_but_the_frame():
    emissions, transitions = make(2, 2)
    loss, _ = HEAD.loss((emissions, transitions), allow(2), allow(2), [[]])
    free = NCRFHead("sum", TAGS[1:])  # without O, the tags of [CLS] and [SEP] are unknown
    columns = [*range(1, N), 0]
    emissions = [rows[:, columns[:-1]] for rows in emissions]
    moves = transitions[np.ix_([*columns[:-1], N], [*columns[:-1], N])]
    unknown, gradient = free.loss((emissions, moves), allow(2), allow(2), [[]])
    rest = tolerance(N_TERMS, [emissions, moves], "float64")
    assert loss > 0.1 and abs(unknown) <= rest
    assert abs(gradient[0][0]).max() <= rest


def test_a_incorrect_span():
    emissions, transitions = make(3, 2)
    span = TagSpan(0, 2, 0)
    plain, _ = HEAD.loss((emissions, transitions), allow(2), [gold([], 2)], [[]])
    incorrect, _ = HEAD.loss((emissions, transitions), allow(2), [gold([], 2)], [[span]])
    p = HEAD.search((emissions, transitions), allow(2)).span_scores([[span]])[0][0]
    assert incorrect - plain == near(-np.log(1 - p), N_TERMS, incorrect, "float64")


def test_the_gradient_is_the_slope():
    emissions, transitions = make(4, 3, 2)
    emissions.append(np.zeros((0, N), "f4"))
    arguments = allow(3, 2, 0), [gold([TagSpan(1, 3, 0)], 3), gold([TagSpan(0, 1, 1)], 2), gold([], 0)]
    incorrect = [[TagSpan(0, 1, 0)], [], []]
    _, (d_emissions, d_transitions) = HEAD.loss((emissions, transitions), *arguments, incorrect)
    assert [rows.shape for rows in d_emissions] == [rows.shape for rows in emissions]
    for array, gradient in ((emissions[0], d_emissions[0]), (transitions, d_transitions)):
        for place in ((0, 0), (1, 2), (4, 3), (2, 6)):
            kept = array[place]

            def loss(step, array=array, place=place, kept=kept):
                array[place] = kept + step
                return HEAD.loss((emissions, transitions), *arguments, incorrect)[0]

            assert gradient[place] == slope(loss, 1e-2, n_terms=1)  # all is in double precision but the step
            array[place] = kept


def test_annotation_that_cannot_be_spelled():
    head = NCRFHead("sum", ("B-A", "I-A"))
    outputs = [np.zeros((3, 4), "f4")], np.zeros((5, 5), "f4")
    mask = np.zeros((1, 5), dtype=bool)
    mask[0, 4] = True  # one token
    assert head.loss(outputs, [np.ones((1, 5), dtype=bool)], [mask], [[]])[0] > 0
    with pytest.raises(ValueError, match="cannot spell the annotation"):
        NCRFHead("sum", ("O", "E-A", "B-B")).loss(
            ([np.zeros((4, 5), "f4")], np.zeros((6, 6), "f4")),
            [np.ones((2, 9), dtype=bool)],
            [np.eye(9, dtype=bool)[[1, 3]]],
            [[]],
        )


def search(outputs, allowed, rules=None):
    return HEAD.search(outputs, allowed, rules)


def check(found, paths, n_tokens):
    best = max(paths, key=lambda pair: pair[1])
    assert set(SCHEME.decode(found.best()[0])) == best[0]
    total = np.logaddexp.reduce([score for _, score in paths])
    spans = sorted({span for spans, _ in paths for span in spans})
    expected = [np.exp(np.logaddexp.reduce([s for spans, s in paths if span in spans]) - total) for span in spans]
    assert_close(found.span_scores([spans])[0], expected, N_TERMS, "float64", scale=total)
    best_paths = found.k_best(5)[0]
    scores = sorted((score for _, score in paths), reverse=True)[:5]
    probabilities = [path.probability for path in best_paths]
    assert_close(probabilities, np.exp(np.array(scores) - total), N_TERMS, "float64", scale=[total, *scores])
    assert all(len(path.tags) == n_tokens for path in best_paths)


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
    assert len(best[1]) == 0 and [path.probability for path in together.k_best(2)[1]] == [1.0]
    for i in (0, 2, 3):
        alone = search(([emissions[i]], transitions), allow(len(emissions[i]) - 2), [rules[i]])
        assert alone.best()[0].tolist() == best[i].tolist()
        assert_close(alone.span_scores([spans[i]])[0], scores[i], N_TERMS, "float64", scale=[emissions, transitions])
