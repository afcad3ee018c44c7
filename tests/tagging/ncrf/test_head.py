import itertools

import numpy as np
import pytest
from ncrf_oracle import SCHEME, TAGS, N, allow, enumerate_paths, make

from spacy_lexner.tagging.ncrf.head import NCRFHead
from spacy_lexner.tagging.spans.tag_scheme import TagSpan

HEAD = NCRFHead("sum", TAGS)


def gold(spans, n_tokens):
    mask = np.zeros((n_tokens, SCHEME.n_tags), dtype=bool)
    mask[np.arange(n_tokens), SCHEME.encode(spans, n_tokens)] = True
    return mask


def path_score(emissions, transitions, path):
    score = transitions[-1, path[0]] + transitions[path[-1], -1] + sum(emissions[i, tag] for i, tag in enumerate(path))
    return score + sum(transitions[a, b] for a, b in itertools.pairwise(path))


def test_the_loss_is_that_of_the_tags_which_spell_the_annotation():
    emissions, transitions = make(1, 3)
    loss, _ = HEAD.loss((emissions, transitions), allow(3), [gold([TagSpan(0, 3, 0)], 3)], [[]])
    path = [0, TAGS.index("B-A"), TAGS.index("M-A"), TAGS.index("E-A"), 0]
    total = np.logaddexp.reduce([score for _, score in enumerate_paths(emissions[0], transitions)])
    assert loss == pytest.approx(total - path_score(emissions[0], transitions, path), abs=1e-5)


def test_missing_annotation_costs_nothing_but_the_frame():
    emissions, transitions = make(2, 2)
    loss, _ = HEAD.loss((emissions, transitions), allow(2), allow(2), [[]])
    free = NCRFHead("sum", TAGS[1:])  # without O, the tags of [CLS] and [SEP] are unknown
    columns = [*range(1, N), 0]
    emissions = [rows[:, columns[:-1]] for rows in emissions]
    moves = transitions[np.ix_([*columns[:-1], N], [*columns[:-1], N])]
    unknown, gradient = free.loss((emissions, moves), allow(2), allow(2), [[]])
    assert loss > 0.1 and unknown == pytest.approx(0, abs=1e-6)
    assert abs(gradient[0][0]).max() < 1e-6


def test_a_refused_span():
    emissions, transitions = make(3, 2)
    span = TagSpan(0, 2, 0)
    plain, _ = HEAD.loss((emissions, transitions), allow(2), [gold([], 2)], [[]])
    refused, _ = HEAD.loss((emissions, transitions), allow(2), [gold([], 2)], [[span]])
    p = HEAD.span_scores((emissions, transitions), allow(2), [[span]])[0][0]
    assert refused - plain == pytest.approx(-np.log(1 - p), abs=1e-6)


def test_the_gradient_is_the_slope():
    emissions, transitions = make(4, 3, 2)
    emissions.append(np.zeros((0, N), "f4"))
    arguments = allow(3, 2, 0), [gold([TagSpan(1, 3, 0)], 3), gold([TagSpan(0, 1, 1)], 2), gold([], 0)]
    refused = [[TagSpan(0, 1, 0)], [], []]
    _, (d_emissions, d_transitions) = HEAD.loss((emissions, transitions), *arguments, refused)
    assert [rows.shape for rows in d_emissions] == [rows.shape for rows in emissions]
    for array, gradient in ((emissions[0], d_emissions[0]), (transitions, d_transitions)):
        for place in ((0, 0), (1, 2), (4, 3), (2, 6)):
            slope = 0.0
            for step in (1e-2, -1e-2):
                array[place] += step
                slope += HEAD.loss((emissions, transitions), *arguments, refused)[0] / step / 2
                array[place] -= step
            assert gradient[place] == pytest.approx(slope, abs=2e-3)


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
