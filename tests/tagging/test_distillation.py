import numpy as np
import pytest
from tagging import SCHEME, free, legal_paths, path_scores, random_outputs
from tolerance import assert_close, near, slope

from spacy_lexner.tagging.heads import CRFHead, SoftmaxHead
from spacy_lexner.tagging.spans.tag_scheme import TagScheme

LENGTHS = [3, 0, 2]
HEADS = [CRFHead("sum"), SoftmaxHead("sum")]


def tag_probabilities(outputs, lengths):
    """By enumerating all paths."""
    found = []
    for rows, n in zip(outputs.emissions, lengths):
        paths = list(legal_paths(n)) if n else []
        scores = path_scores(rows, outputs.transitions, paths) if n else np.zeros(0)
        weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum() if n else scores
        own = np.zeros((n, SCHEME.n_tags))
        for path, weight in zip(paths, weights):
            own[np.arange(n), path] += weight
        found.append(own)
    return found


def test_probabilities_of_tags_against_all_paths():
    outputs = random_outputs(2, LENGTHS)
    found = CRFHead().search(outputs, free(LENGTHS)).tag_scores()
    for own, expected in zip(found, tag_probabilities(outputs, LENGTHS)):
        assert_close(own, expected, 3 * SCHEME.n_tags, "float64", scale=[1.0, *outputs.emissions])


@pytest.mark.parametrize("head", HEADS, ids=lambda head: type(head).__name__)
def test_no_divergence_from_itself(head):
    outputs = random_outputs(3, LENGTHS)
    target = head.search(outputs, free(LENGTHS)).tag_scores()
    loss, gradient = head.distil_loss(outputs, free(LENGTHS), target)
    assert loss == near(0.0, 5 * SCHEME.n_tags, outputs, "float64")
    assert_close(np.concatenate(gradient.emissions), np.zeros((5, SCHEME.n_tags)), 50, scale=1.0)


def test_the_divergence_is_that_of_the_probabilities():
    outputs, other = random_outputs(3, LENGTHS), random_outputs(4, LENGTHS)
    target = tag_probabilities(other, LENGTHS)
    own = np.concatenate(tag_probabilities(outputs, LENGTHS))
    rows = np.concatenate(target)
    possible = rows > 0  # no tag continues at the first token of a text, for example
    expected = (rows[possible] * np.log(rows[possible] / own[possible])).sum()
    assert CRFHead("sum").distil_loss(outputs, free(LENGTHS), target)[0] == pytest.approx(expected, rel=1e-9)


def test_what_fewer_labels_call_outside_may_have_a_new_one():
    """The old model lacks the last label: its outside means outside or LOC."""
    outputs = random_outputs(3, [2])
    n_old = TagScheme(["PER"]).n_tags
    [own] = tag_probabilities(outputs, [2])
    merged = np.concatenate([own[:, :1] + own[:, n_old:].sum(1, keepdims=True), own[:, 1:n_old]], 1)
    loss, _ = CRFHead("sum").distil_loss(outputs, free([2]), [merged])
    assert loss == near(0.0, 2 * SCHEME.n_tags, outputs, "float64")


@pytest.mark.parametrize("head", HEADS, ids=lambda head: type(head).__name__)
def test_gradient(head):
    outputs = random_outputs(5, [2, 1])
    n_old = TagScheme(["PER"]).n_tags
    target = [own[:, :n_old] / own[:, :n_old].sum(1, keepdims=True) for own in tag_probabilities(outputs, [2, 1])]
    _, (d_emissions, d_transitions) = head.distil_loss(outputs, free([2, 1]), target)
    for array, gradient in zip([*outputs[0], outputs[1]], [*d_emissions, d_transitions]):
        for i in np.ndindex(array.shape):
            kept = array[i]

            def loss(step, array=array, i=i, kept=kept):
                array[i] = kept + step
                return head.distil_loss(outputs, free([2, 1]), target)[0]

            assert gradient[i] == slope(loss, 1e-2, n_terms=1)
            array[i] = kept
