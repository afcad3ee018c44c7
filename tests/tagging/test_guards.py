import numpy as np
import pytest
import torch
from small_ner import HASH_EMBED_CNN, blank, examples
from spacy.util import registry
from tagging import SCHEME, free, legal_paths, path_scores, random_outputs
from tolerance import assert_close, near, sampling_error, slope

from spacy_lexner.tagging.guards import EntityRatio, NegativeSampling
from spacy_lexner.tagging.heads import CRFHead

LENGTHS = [3, 0, 2]


def missing(lengths):
    return [SCHEME.gold([None] * n) for n in lengths]


def expected_share(outputs, lengths):
    """The share of the tokens that are expected to be in entities, by all paths."""
    inside = 0.0
    for rows, n in zip(outputs.emissions, lengths):
        paths = list(legal_paths(n)) if n else []
        scores = path_scores(rows, outputs.transitions, paths) if n else np.zeros(0)
        weights = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum() if n else scores
        inside += sum(weight * np.count_nonzero(path) for path, weight in zip(paths, weights))
    return inside / sum(lengths)


@pytest.mark.parametrize("ratio, margin", [(0.1, 0.05), (0.99, 0.001)])
def test_the_loss_is_the_distance_from_the_ratio(ratio, margin):
    outputs = random_outputs(1, LENGTHS)
    head = CRFHead("token", guard=EntityRatio(ratio, margin, 10.0))
    loss, _ = head.loss(outputs, free(LENGTHS), missing(LENGTHS), [[], [], []])
    distance = abs(expected_share(outputs, LENGTHS) - ratio) - margin
    assert distance > 0 and loss == near(10 * distance, 3 * SCHEME.n_tags, outputs, "float64")


def test_within_the_margin_there_is_no_loss():
    outputs = random_outputs(1, LENGTHS)
    head = CRFHead("token", guard=EntityRatio(expected_share(outputs, LENGTHS), 0.01, 10.0))
    batch = outputs, free(LENGTHS), missing(LENGTHS), [[], [], []]
    (loss, gradient), (alone, of_alone) = head.loss(*batch), CRFHead("token").loss(*batch)
    n_terms = sum(LENGTHS) * SCHEME.n_tags
    assert loss == alone == near(0.0, n_terms, outputs, "float64")
    for rows, same in zip((*gradient.emissions, gradient.transitions), (*of_alone.emissions, of_alone.transitions)):
        assert np.array_equal(rows, same)
        assert_close(rows, np.zeros_like(rows), n_terms, "float64", 1.0)


@pytest.mark.parametrize("guard", [EntityRatio(0.1, 0.01, 10.0), NegativeSampling(2.0, 3, 0.7)])
def test_gradient(guard):
    outputs, allowed = random_outputs(4, LENGTHS), free(LENGTHS)
    gold = [SCHEME.gold(["B-PER", "L-PER", None]), SCHEME.gold([]), SCHEME.gold([None, None])]
    head = CRFHead(guard=guard)

    def value():
        np.random.seed(0)
        return head.loss(outputs, allowed, gold, [[], [], []])

    _, (d_emissions, d_transitions) = value()
    for array, gradient in zip([*outputs[0], outputs[1]], [*d_emissions, d_transitions]):
        for i in np.ndindex(array.shape):
            kept = array[i]

            def loss(step, array=array, i=i, kept=kept):
                array[i] = kept + step
                return value()[0]

            assert gradient[i] == slope(loss, 1e-2, n_terms=1)  # all is in double precision but the step
            array[i] = kept


def test_the_loss_of_drawn_spans_against_all_paths(monkeypatch):
    n = 3
    outputs = random_outputs(7, [n])
    guard = NegativeSampling(1.0, 3, 2.0)
    monkeypatch.setattr(guard, "draw", lambda missing, lengths: (np.array([0, 1]), np.array([2, 2])))
    loss, _ = CRFHead("sum", guard=guard).loss(outputs, free([n]), missing([n]), [[]])
    paths = list(legal_paths(n))
    weights = torch.from_numpy(path_scores(outputs.emissions[0], outputs.transitions, paths)).softmax(0).tolist()
    spans = [{span[:2] for span in SCHEME.decode(path)} for path in paths]
    expected = [sum(w for w, own in zip(weights, spans) if place in own) for place in ((0, 2), (1, 2))]
    assert loss == pytest.approx(2 * -sum(np.log1p(-p) for p in expected), rel=1e-9)


def test_only_spans_without_annotation_are_drawn():
    annotated = np.array([1, 1, 1, 0, 0, 1, 1, 1, 1, 1], bool)  # three sequences: 3 + 4 + 3 tokens
    guard = NegativeSampling(500.0, 3, 1.0)
    starts, ends = guard.draw(annotated, np.array([3, 4, 3]))
    drawn = set(zip(starts.tolist(), ends.tolist()))
    whole = [
        (a, b) for low, high in ((0, 3), (5, 7), (7, 10)) for a in range(low, high) for b in range(a + 1, high + 1)
    ]
    assert drawn == set(whole)
    first = np.mean((starts == 0) & (ends == 1))
    assert first == pytest.approx(1 / len(whole), abs=sampling_error(1 / len(whole), len(starts)))


def test_nothing_is_drawn_where_all_is_annotated():
    guard = NegativeSampling(5.0, 3, 1.0)
    assert [len(part) for part in guard.draw(np.zeros(4, bool), np.array([4]))] == [0, 0]
    gold = [SCHEME.gold(["O", "O"])]
    outputs = random_outputs(1, [2])
    plain = CRFHead().loss(outputs, free([2]), gold, [[]])[0]
    assert CRFHead(guard=guard).loss(outputs, free([2]), gold, [[]])[0] == plain


def test_without_annotation_and_guard_there_is_no_loss():
    outputs = random_outputs(1, LENGTHS)
    assert CRFHead().loss(outputs, free(LENGTHS), missing(LENGTHS), [[], [], []])[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["EntityRatio", "NegativeSampling"])
def test_a_config_names_it(name):
    guard = {"@misc": f"spacy-lexner.{name}.v1", "weight": 2.0}
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": HASH_EMBED_CNN, "guard": guard}
    nlp = blank(model=model)
    gold = examples(nlp)
    nlp.initialize(lambda: gold)
    assert nlp.get_pipe("lex_ner").head.guard.weight == 2.0
    assert nlp.update(gold)["lex_ner"] > 0
    copied = blank(model=nlp.get_pipe_config("lex_ner")["model"])
    assert type(copied.get_pipe("lex_ner").head.guard).__name__ == name


@pytest.mark.parametrize(
    "name, settings, message",
    [
        ("EntityRatio", {"ratio": 1.5}, "ratio = 1.5"),
        ("EntityRatio", {"ratio": 0.0}, "expected a ratio above 0 and below 1"),
        ("EntityRatio", {"weight": -1.0}, "weight = -1.0"),
        ("NegativeSampling", {"share": 0.0}, "share = 0.0"),
        ("NegativeSampling", {"max_length": 0}, "max_length = 0"),
    ],
)
def test_wrong_settings(name, settings, message):
    with pytest.raises(ValueError, match=message):
        registry.misc.get(f"spacy-lexner.{name}.v1")(**settings)
