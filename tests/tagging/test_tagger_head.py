import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tagging import SCHEME, free, legal_paths, path_scores, random_outputs

from spacy_lexner.tagging.crf_head import CRFHead
from spacy_lexner.tagging.softmax_head import SoftmaxHead
from spacy_lexner.tagging.spans.tag_scheme import TagSpan

HEADS = [CRFHead("sum"), SoftmaxHead("sum")]


def finite_differences(head, outputs, *args, step=1e-2):
    """The gradient of the loss, by trying; in float32 steps that are exact."""
    arrays = [*outputs[0], outputs[1]]
    for array in arrays:
        gradient = np.zeros(array.shape)
        for i in np.ndindex(array.shape):
            kept = array[i]
            array[i] = kept + step
            up, above = head.loss(outputs, *args)[0], array[i]
            array[i] = kept - step
            down, below = head.loss(outputs, *args)[0], array[i]
            array[i] = kept
            gradient[i] = (up - down) / (above - below)
        yield gradient


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 4))
def test_decoding_and_scores_against_all_paths(seed, n):
    outputs = random_outputs(seed, [n])
    paths = list(legal_paths(n))
    scores = path_scores(outputs[0][0], outputs[1], paths)
    weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    decoded = CRFHead().decode(outputs, free([n]))[0]
    assert decoded.tolist() == paths[int(scores.argmax())].tolist()
    expected = {}
    for path, weight in zip(paths, weights):
        for span in SCHEME.decode(path):
            expected[span] = expected.get(span, 0.0) + weight
    found = CRFHead().span_scores(outputs, free([n]), [list(expected)])[0]
    np.testing.assert_allclose(found, list(expected.values()), rtol=1e-6)


@pytest.mark.parametrize("head", HEADS, ids=lambda head: type(head).__name__)
def test_paths_are_legal_and_batches_change_nothing(head):
    lengths = [5, 0, 1, 30, 2]
    outputs, allowed = random_outputs(1, lengths, scale=3), free(lengths)
    paths = head.decode(outputs, allowed)
    assert [len(path) for path in paths] == lengths
    end = SCHEME.n_tags
    for i, path in enumerate(paths):
        assert not len(path) or all(SCHEME.legal[move] for move in itertools.pairwise((end, *path, end)))
        if len(path):
            alone = head.decode(([outputs[0][i]], outputs[1]), [allowed[i]])[0]
            assert alone.tolist() == path.tolist()
    spans = [SCHEME.decode(path) for path in paths]
    for i, scores in enumerate(head.span_scores(outputs, allowed, spans)):
        assert len(scores) == len(spans[i]) and ((scores >= 0) & (scores <= 1)).all()
        if spans[i]:
            np.testing.assert_allclose(
                scores, head.span_scores(([outputs[0][i]], outputs[1]), [allowed[i]], [spans[i]])[0]
            )


def test_given_spans_are_certain_and_spelled():
    outputs = random_outputs(2, [6], scale=5)
    given_span = TagSpan(1, 4, 1)
    allowed = [SCHEME.constraint(np.zeros(6, dtype=bool), [given_span], [(5, 6)])]
    path = CRFHead().decode(outputs, allowed)[0]
    assert given_span in SCHEME.decode(path) and path[5] == 0
    assert CRFHead().span_scores(outputs, allowed, [[given_span]])[0][0] == pytest.approx(1, abs=1e-12)
    assert CRFHead().span_scores(outputs, allowed, [[TagSpan(3, 5, 0)]])[0][0] == 0


@pytest.mark.parametrize("head", HEADS, ids=lambda head: type(head).__name__)
def test_gradient(head):
    lengths = [3, 0, 2]
    outputs, allowed = random_outputs(4, lengths), free(lengths)
    gold = [SCHEME.gold(["B-PER", "L-PER", None]), SCHEME.gold([]), SCHEME.gold(["O", "U-LOC"])]
    refused = [[TagSpan(0, 1, 0), TagSpan(0, 3, 1)], [], [TagSpan(1, 2, 1)]]
    _, (d_emissions, d_transitions) = head.loss(outputs, allowed, gold, refused)
    assert [d.shape for d in d_emissions] == [e.shape for e in outputs[0]]
    for computed, expected in zip(
        [*d_emissions, d_transitions], finite_differences(head, outputs, allowed, gold, refused)
    ):
        assert computed.dtype == np.float32
        np.testing.assert_allclose(computed, expected, rtol=0.02, atol=1e-4)


@pytest.mark.parametrize("head", HEADS, ids=lambda head: type(head).__name__)
def test_refused_span_costs_what_it_is_worth(head):
    outputs, allowed = random_outputs(5, [4]), free([4])
    nothing = [np.ones_like(allowed[0])]
    span = TagSpan(1, 3, 0)
    p = head.span_scores(outputs, allowed, [[span]])[0][0]
    assert head.loss(outputs, allowed, nothing, [[span]])[0] == pytest.approx(-np.log(1 - p), rel=1e-6)
    spaces = [SCHEME.constraint(np.array([False, True, False, False]))]
    assert head.loss(outputs, spaces, nothing, [[span]])[0] == 0  # cannot be predicted: nothing to unlearn


def test_refused_span_that_is_certain_is_unlearned():
    outputs, allowed = random_outputs(6, [3]), free([3])
    outputs[0][0][:] = -40
    for token, tag in enumerate(SCHEME.encode([TagSpan(0, 3, 0)], 3)):
        outputs[0][0][token, tag] = 40
    loss, (d_emissions, _) = CRFHead().loss(outputs, allowed, [np.ones_like(allowed[0])], [[TagSpan(0, 3, 0)]])
    assert np.isfinite(loss) and loss > 20
    assert np.isfinite(d_emissions[0]).all()


@pytest.mark.parametrize("normalization, divisor", [("sum", 1), ("mean", 2), ("token", 5)])
def test_normalization(normalization, divisor):
    lengths = [3, 0, 2]
    outputs, allowed = random_outputs(7, lengths), free(lengths)
    gold = [SCHEME.gold(["O"] * n) for n in lengths]
    for whole, head in ((CRFHead("sum"), CRFHead(normalization)), (SoftmaxHead("sum"), SoftmaxHead(normalization))):
        total, d_total = whole.loss(outputs, allowed, gold, [[], [], []])
        loss, d_loss = head.loss(outputs, allowed, gold, [[], [], []])
        assert loss == pytest.approx(total / divisor)
        np.testing.assert_allclose(d_loss[0][0] * divisor, d_total[0][0], rtol=1e-4, atol=1e-7)


def test_unknown_normalization():
    with pytest.raises(ValueError, match="normalization is 'batch'; expected one of mean, sum, token"):
        CRFHead("batch")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_damaged_output_is_refused(value):
    outputs, allowed = random_outputs(8, [3, 2]), free([3, 2])
    outputs[0][1][0, 0] = value
    with pytest.raises(ValueError, match=r"Documents \[1\] of the batch have no tag path of finite score"):
        CRFHead().decode(outputs, allowed)
