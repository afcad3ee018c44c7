import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tagging import LEGAL, SCHEME, free, legal_paths, path_scores, random_outputs, tags_of
from tolerance import assert_close, near, slope, tolerance

from spacy_lexner.tagging.heads import CRFHead, SoftmaxHead
from spacy_lexner.tagging.spans.tag_scheme import TagSpan

HEADS = [CRFHead("sum"), SoftmaxHead("sum")]


def n_terms(n_tokens):
    """Of the score of a path and of the sums over tags."""
    return n_tokens * SCHEME.n_tags


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 4))
def test_decoding_and_scores_against_all_paths(seed, n):
    outputs = random_outputs(seed, [n])
    paths = list(legal_paths(n))
    scores = path_scores(outputs[0][0], outputs[1], paths)
    weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    decoded = CRFHead().search(outputs, free([n])).best()[0]
    assert decoded.tolist() == paths[int(scores.argmax())].tolist()
    expected = {}
    for path, weight in zip(paths, weights):
        for span in SCHEME.decode(path):
            expected[span] = expected.get(span, 0.0) + weight
    found = CRFHead().search(outputs, free([n])).span_scores([list(expected)])[0]
    assert_close(found, list(expected.values()), n_terms(n), "float64", scale=scores)


@pytest.mark.parametrize("head", HEADS, ids=lambda head: type(head).__name__)
def test_paths_are_legal_and_batches_change_nothing(head):
    lengths = [5, 0, 1, 30, 2]
    outputs, allowed = random_outputs(1, lengths, scale=3), free(lengths)
    paths = head.search(outputs, allowed).best()
    assert [len(path) for path in paths] == lengths
    end = SCHEME.n_tags
    for i, path in enumerate(paths):
        assert not len(path) or all(LEGAL[move] for move in itertools.pairwise((end, *path, end)))
        if len(path):
            alone = head.search(([outputs[0][i]], outputs[1]), [allowed[i]]).best()[0]
            assert alone.tolist() == path.tolist()
    spans = [SCHEME.decode(path) for path in paths]
    for i, scores in enumerate(head.search(outputs, allowed).span_scores(spans)):
        assert len(scores) == len(spans[i]) and ((scores >= 0) & (scores <= 1)).all()
        if spans[i]:
            alone = head.search(([outputs[0][i]], outputs[1]), [allowed[i]]).span_scores([spans[i]])[0]
            assert_close(scores, alone, n_terms(lengths[i]), "float64", scale=outputs)


def test_given_spans_are_certain_and_spelled():
    outputs = random_outputs(2, [6], scale=5)
    given_span = TagSpan(1, 4, 1)
    allowed = [SCHEME.constraint(np.zeros(6, dtype=bool), [given_span], [(5, 6)])]
    path = CRFHead().search(outputs, allowed).best()[0]
    assert given_span in SCHEME.decode(path) and path[5] == 0
    certain, impossible = CRFHead().search(outputs, allowed).span_scores([[given_span, TagSpan(3, 5, 0)]])[0]
    assert certain == near(1.0, n_terms(6), outputs, "float64") and impossible == 0


@pytest.mark.parametrize("head", HEADS, ids=lambda head: type(head).__name__)
def test_gradient(head):
    lengths = [3, 0, 2]
    outputs, allowed = random_outputs(4, lengths), free(lengths)
    gold = [SCHEME.gold(["B-PER", "L-PER", None]), SCHEME.gold([]), SCHEME.gold(["O", "U-LOC"])]
    incorrect = [[TagSpan(0, 1, 0), TagSpan(0, 3, 1)], [], [TagSpan(1, 2, 1)]]
    _, (d_emissions, d_transitions) = head.loss(outputs, allowed, gold, incorrect)
    assert [d.shape for d in d_emissions] == [e.shape for e in outputs[0]]
    for array, gradient in zip([*outputs[0], outputs[1]], [*d_emissions, d_transitions]):
        assert gradient.dtype == np.float32
        for i in np.ndindex(array.shape):
            kept = array[i]

            def loss(step, array=array, i=i, kept=kept):
                array[i] = kept + step
                return head.loss(outputs, allowed, gold, incorrect)[0]

            assert gradient[i] == slope(loss, 1e-2, n_terms=1)  # all is in double precision but the step
            array[i] = kept


@pytest.mark.parametrize("head", HEADS, ids=lambda head: type(head).__name__)
def test_incorrect_span_costs_what_it_is_worth(head):
    outputs, allowed = random_outputs(5, [4]), free([4])
    nothing = [np.ones_like(allowed[0])]
    span = TagSpan(1, 3, 0)
    p = head.search(outputs, allowed).span_scores([[span]])[0][0]
    assert head.loss(outputs, allowed, nothing, [[span]])[0] == pytest.approx(-np.log(1 - p))
    spaces = [SCHEME.constraint(np.array([False, True, False, False]))]
    assert head.loss(outputs, spaces, nothing, [[span]])[0] == 0  # cannot be predicted, so there is nothing to unlearn


def test_incorrect_span_that_is_certain_is_unlearned():
    outputs, allowed = random_outputs(6, [3]), free([3])
    outputs[0][0][:] = -40
    for token, tag in enumerate(tags_of([TagSpan(0, 3, 0)], 3)):
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
        assert_close(d_loss[0][0] * divisor, d_total[0][0], n_terms=2)  # both are rounded once


def test_unknown_normalization():
    with pytest.raises(ValueError, match="normalization is 'batch'; expected one of mean, sum, token"):
        CRFHead("batch")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_damaged_output_is_incorrect(value):
    outputs, allowed = random_outputs(8, [3, 2]), free([3, 2])
    outputs[0][1][0, 0] = value
    with pytest.raises(ValueError, match=r"Documents \[1\] of the batch have no tag path of finite score"):
        CRFHead().search(outputs, allowed).best()


# --- CRF

PARTIAL = [None, "O", "U-PER", "B-PER", "I-PER", "L-PER", "U-LOC", "B-LOC", "I-LOC", "L-LOC"]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.lists(st.sampled_from(PARTIAL), min_size=1, max_size=4))
def test_likelihood_of_partial_annotation(seed, biluo):
    """Against all paths: the loss is -log of the share of those that agree with the annotation."""
    outputs, gold = random_outputs(seed, [len(biluo)]), SCHEME.gold(biluo)
    paths = list(legal_paths(len(biluo)))
    weights = np.exp(path_scores(outputs[0][0], outputs[1], paths))
    agreeing = np.array([gold[np.arange(len(path)), path].all() for path in paths])
    if agreeing.any():
        loss, _ = CRFHead().loss(outputs, free([len(biluo)]), [gold], [[]])
        expected = -np.log(weights[agreeing].sum() / weights.sum())
        assert loss == near(expected, n_terms(len(biluo)), outputs, "float64")


def test_no_annotation_has_no_likelihood_and_no_gradient():
    for is_space in (np.zeros(6, dtype=bool), np.array([True, False, False, True, False, True])):
        outputs = random_outputs(1, [6], scale=10)
        loss, (d_emissions, d_transitions) = CRFHead().loss(
            outputs, [SCHEME.constraint(is_space)], [SCHEME.gold([None] * 6)], [[]]
        )
        assert loss == 0
        rest = tolerance(n_terms(6), outputs, "float64")
        assert np.abs(d_emissions[0]).max() <= rest and np.abs(d_transitions).max() <= rest


def test_illegal_moves_are_never_trained():
    outputs = random_outputs(2, [4])
    _, (_, d_transitions) = CRFHead().loss(outputs, free([4]), [SCHEME.gold(["O", "B-PER", "L-PER", "O"])], [[]])
    assert not d_transitions[~LEGAL].any()
    assert d_transitions[LEGAL].any()


def test_unconstrained_training_is_relative_to_all_paths():
    n_tokens, biluo = 3, ["B-PER", "L-PER", "O"]
    outputs, gold = random_outputs(4, [n_tokens]), SCHEME.gold(biluo)
    paths = list(itertools.product(range(SCHEME.n_tags), repeat=n_tokens))
    weights = np.exp(path_scores(outputs[0][0], outputs[1], paths))
    right = weights[paths.index(tuple(gold.argmax(1)))]
    head = CRFHead(constrained_training=False)
    loss, (_, d_transitions) = head.loss(outputs, free([n_tokens]), [gold], [[]])
    assert loss == pytest.approx(-np.log(right / weights.sum()))
    assert (d_transitions[:-1, :-1][~LEGAL[:-1, :-1]] > 0).all()
    assert (
        head.search(outputs, free([n_tokens])).best()[0].tolist()
        == CRFHead().search(outputs, free([n_tokens])).best()[0].tolist()
    )


def test_learns_an_annotation():
    """Gradient descent on the outputs reaches the annotated path."""
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
    assert [path.tolist() for path in CRFHead().search(outputs, free([5, 2])).best()] == [
        g.argmax(1).tolist() for g in gold
    ]


# --- softmax

BILUO = ["O", "B-PER", "I-PER", "L-PER", "U-LOC"]


def gold_and_outputs(seed=0):
    outputs = random_outputs(seed, [5])
    outputs[1][:] = 0
    return SCHEME.gold(BILUO), outputs


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_is_that_of_torch(smoothing):
    gold, outputs = gold_and_outputs()
    expected = torch.nn.functional.cross_entropy(
        torch.from_numpy(outputs[0][0]).double(), torch.from_numpy(gold.argmax(1)), label_smoothing=smoothing
    )
    loss, _ = SoftmaxHead("token", label_smoothing=smoothing).loss(outputs, free([5]), [gold], [[]])
    assert loss == pytest.approx(expected.item())


def test_focal_loss():
    gold, outputs = gold_and_outputs(1)
    p = torch.from_numpy(outputs[0][0]).double().softmax(1).numpy()[gold]
    loss, _ = SoftmaxHead("sum", focal_gamma=2.0).loss(outputs, free([5]), [gold], [[]])
    assert loss == pytest.approx(-((1 - p) ** 2 * np.log(p)).sum())


def test_tags_that_are_not_allowed_have_no_share():
    gold, outputs = gold_and_outputs(2)
    allowed = SCHEME.constraint(np.array([False, False, True, False, False]))
    scores = np.where(allowed, outputs[0][0].astype("float64"), -np.inf)
    p = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    loss, (d_emissions, _) = SoftmaxHead("sum").loss(outputs, [allowed], [gold], [[]])
    assert loss == pytest.approx(-np.log(p[gold]).sum())
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
    assert loss == pytest.approx(-np.log([p[1][gold[1]], p[4][gold[4]]]).sum())


def test_span_score_is_the_product_of_tag_probabilities_among_legal_paths():
    _, outputs = gold_and_outputs(5)
    p = torch.from_numpy(outputs[0][0]).double().softmax(1).numpy()
    paths = list(legal_paths(5))
    products = np.array([p[np.arange(5), path].prod() for path in paths])
    spelled = np.array([TagSpan(1, 4, 0) in SCHEME.decode(path) for path in paths])
    score = SoftmaxHead().search(outputs, free([5])).span_scores([[TagSpan(1, 4, 0)]])[0][0]
    assert score == pytest.approx(products[spelled].sum() / products.sum())


def test_decoding_is_legal_where_the_best_tags_are_not():
    _, outputs = gold_and_outputs(6)
    outputs[0][0][:] = -5
    for token, tag in enumerate(["I-PER", "B-PER", "I-LOC", "E-PER", "B-LOC"]):
        outputs[0][0][token, SCHEME.tags.index(tag)] = 5
    path = SoftmaxHead().search(outputs, free([5])).best()[0]
    assert all(LEGAL[move] for move in itertools.pairwise((9, *path, 9)))


@pytest.mark.parametrize(
    "settings, message", [({"focal_gamma": -1}, "focal_gamma is -1"), ({"label_smoothing": 1}, "is 1")]
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        SoftmaxHead(**settings)
