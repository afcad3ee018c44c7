import itertools

import numpy as np
import pytest
import torch
from tagging import SCHEME, free, legal_paths, random_outputs

from spacy_lexner.tagging.softmax_head import SoftmaxHead
from spacy_lexner.tagging.spans.tag_scheme import TagSpan

BILUO = ["O", "B-PER", "I-PER", "L-PER", "U-LOC"]


def gold_and_outputs(seed=0):
    outputs = random_outputs(seed, [5])
    outputs[1][:] = 0
    return SCHEME.gold(BILUO), outputs


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_is_that_of_torch(smoothing):
    gold, outputs = gold_and_outputs()
    expected = torch.nn.functional.cross_entropy(
        torch.from_numpy(outputs[0][0]), torch.from_numpy(gold.argmax(1)), label_smoothing=smoothing
    )
    loss, _ = SoftmaxHead("token", label_smoothing=smoothing).loss(outputs, free([5]), [gold], [[]])
    assert loss == pytest.approx(expected.item(), rel=1e-6)


def test_focal_loss():
    gold, outputs = gold_and_outputs(1)
    p = torch.from_numpy(outputs[0][0]).double().softmax(1).numpy()[gold]
    loss, _ = SoftmaxHead("sum", focal_gamma=2.0).loss(outputs, free([5]), [gold], [[]])
    assert loss == pytest.approx(-((1 - p) ** 2 * np.log(p)).sum(), rel=1e-6)


def test_tags_that_are_not_allowed_have_no_share():
    gold, outputs = gold_and_outputs(2)
    allowed = SCHEME.constraint(np.array([False, False, True, False, False]))
    scores = np.where(allowed, outputs[0][0].astype("float64"), -np.inf)
    p = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    loss, (d_emissions, _) = SoftmaxHead("sum").loss(outputs, [allowed], [gold], [[]])
    assert loss == pytest.approx(-np.log(p[gold]).sum(), rel=1e-6)
    assert not d_emissions[0][~allowed].any()


@pytest.mark.parametrize("head", [SoftmaxHead(), SoftmaxHead(focal_gamma=2.0), SoftmaxHead(label_smoothing=0.2)])
def test_no_annotation_has_no_loss(head):
    _, outputs = gold_and_outputs(3)
    loss, (d_emissions, d_transitions) = head.loss(outputs, free([5]), [SCHEME.gold([None] * 5)], [[]])
    assert loss == 0 and not d_emissions[0].any() and not d_transitions.any()


def test_part_of_the_annotation():
    gold, outputs = gold_and_outputs(4)
    part = SCHEME.gold([None, "B-PER", None, None, "U-LOC"])
    p = torch.from_numpy(outputs[0][0]).double().softmax(1).numpy()
    loss, _ = SoftmaxHead("sum").loss(outputs, free([5]), [part], [[]])
    assert loss == pytest.approx(-np.log([p[1][gold[1]], p[4][gold[4]]]).sum(), rel=1e-6)


def test_span_score_is_the_product_of_tag_probabilities_among_legal_paths():
    _, outputs = gold_and_outputs(5)
    p = torch.from_numpy(outputs[0][0]).double().softmax(1).numpy()
    paths = list(legal_paths(5))
    products = np.array([p[np.arange(5), path].prod() for path in paths])
    spelled = np.array([TagSpan(1, 4, 0) in SCHEME.decode(path) for path in paths])
    score = SoftmaxHead().span_scores(outputs, free([5]), [[TagSpan(1, 4, 0)]])[0][0]
    assert score == pytest.approx(products[spelled].sum() / products.sum(), rel=1e-6)


def test_decoding_is_legal_where_the_best_tags_are_not():
    _, outputs = gold_and_outputs(6)
    outputs[0][0][:] = -5
    for token, tag in enumerate(["I-PER", "B-PER", "I-LOC", "E-PER", "B-LOC"]):
        outputs[0][0][token, SCHEME.tags.index(tag)] = 5
    path = SoftmaxHead().decode(outputs, free([5]))[0]
    assert all(SCHEME.legal[move] for move in itertools.pairwise((9, *path, 9)))


@pytest.mark.parametrize(
    "settings, message", [({"focal_gamma": -1}, "focal_gamma is -1"), ({"label_smoothing": 1}, "is 1")]
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        SoftmaxHead(**settings)
