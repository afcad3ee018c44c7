from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tagging import SCHEME, free, legal_paths, path_scores, random_outputs

from spacy_lexner.tagging.crf_head import CRFHead

BILUO = [None, "O", "U-PER", "B-PER", "I-PER", "L-PER", "U-LOC", "B-LOC", "I-LOC", "L-LOC"]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.lists(st.sampled_from(BILUO), min_size=1, max_size=4))
def test_likelihood_of_partial_annotation(seed, biluo):
    """Against all paths: the loss is -log of the share of those that agree with the annotation."""
    outputs, gold = random_outputs(seed, [len(biluo)]), SCHEME.gold(biluo)
    paths = list(legal_paths(len(biluo)))
    weights = np.exp(path_scores(outputs[0][0], outputs[1], paths))
    agreeing = np.array([gold[np.arange(len(path)), path].all() for path in paths])
    if agreeing.any():
        loss, _ = CRFHead().loss(outputs, free([len(biluo)]), [gold], [[]])
        assert loss == pytest.approx(-np.log(weights[agreeing].sum() / weights.sum()), rel=1e-6, abs=1e-9)


def test_no_annotation_has_no_loss_and_no_gradient():
    for is_space in (np.zeros(6, dtype=bool), np.array([True, False, False, True, False, True])):
        outputs = random_outputs(1, [6], scale=10)
        loss, (d_emissions, d_transitions) = CRFHead().loss(
            outputs, [SCHEME.constraint(is_space)], [SCHEME.gold([None] * 6)], [[]]
        )
        assert loss == 0
        assert not np.abs(d_emissions[0]).max() > 1e-7 and not np.abs(d_transitions).max() > 1e-7


def test_illegal_moves_are_never_trained():
    outputs = random_outputs(2, [4])
    _, (_, d_transitions) = CRFHead().loss(outputs, free([4]), [SCHEME.gold(["O", "B-PER", "L-PER", "O"])], [[]])
    assert not d_transitions[~SCHEME.legal].any()
    assert d_transitions[SCHEME.legal].any()


def test_unconstrained_training_is_relative_to_all_paths():
    n_tokens, biluo = 3, ["B-PER", "L-PER", "O"]
    outputs, gold = random_outputs(4, [n_tokens]), SCHEME.gold(biluo)
    paths = list(product(range(SCHEME.n_tags), repeat=n_tokens))
    weights = np.exp(path_scores(outputs[0][0], outputs[1], paths))
    right = weights[paths.index(tuple(gold.argmax(1)))]
    head = CRFHead(constrained_training=False)
    loss, (_, d_transitions) = head.loss(outputs, free([n_tokens]), [gold], [[]])
    assert loss == pytest.approx(-np.log(right / weights.sum()), rel=1e-6)
    assert (d_transitions[:-1, :-1][~SCHEME.legal[:-1, :-1]] > 0).all()
    assert head.decode(outputs, free([n_tokens]))[0].tolist() == CRFHead().decode(outputs, free([n_tokens]))[0].tolist()


def test_learns_an_annotation():
    """Gradient descent on the outputs alone reaches the annotated path."""
    outputs = random_outputs(3, [5, 2])
    biluo = [["O", "B-LOC", "I-LOC", "L-LOC", "U-PER"], ["O", "O"]]
    gold = [SCHEME.gold(tags) for tags in biluo]
    losses = []
    for _ in range(60):
        loss, (d_emissions, d_transitions) = CRFHead().loss(outputs, free([5, 2]), gold, [[], []])
        losses.append(loss)
        for array, gradient in zip([*outputs[0], outputs[1]], [*d_emissions, d_transitions]):
            array -= gradient
    assert losses[-1] < 0.1 < losses[0]
    assert [path.tolist() for path in CRFHead().decode(outputs, free([5, 2]))] == [g.argmax(1).tolist() for g in gold]
