import numpy as np
import pytest
import torch
from tolerance import tolerance

from spacy_lexner.tagging import crf, moves
from spacy_lexner.tagging.crf import Trellis
from spacy_lexner.tagging.moves import Moves
from spacy_lexner.tagging.spans.tag_scheme import legal_moves


def sparse_trellis(seed, n_tags=24):
    """Chains of states, some of which any other may follow; few of them at each token, as rules about spans make it."""
    generator = torch.Generator().manual_seed(seed)
    lengths = [7, 1, 0, 5]
    n_tokens = sum(lengths)
    legal = torch.zeros(n_tags + 1, n_tags + 1, dtype=torch.bool)
    legal[torch.arange(n_tags), (torch.arange(n_tags) + 1) % n_tags] = True
    legal[:, ::4] = True
    legal[::3] = True
    allowed = torch.rand(n_tokens, n_tags, generator=generator) < 0.4
    allowed[:, ::4] |= torch.rand(n_tokens, n_tags, generator=generator)[:, ::4] < 0.5
    emissions = torch.randn(n_tokens, n_tags, generator=generator, dtype=torch.float64)
    transitions = torch.randn(n_tags + 1, n_tags + 1, generator=generator, dtype=torch.float64)
    return Trellis(emissions.requires_grad_(), transitions.requires_grad_(), allowed, legal, lengths)


def results(trellis):
    """Everything computed from a trellis, with gradients of the log partition."""
    best = crf.viterbi(trellis)
    log_z, alpha, found = crf.posterior(trellis)
    finite = crf.log_partition(trellis)
    gradients = torch.autograd.grad(finite[torch.isfinite(finite)].sum(), [trellis.emissions, trellis.transitions])
    possible = torch.isfinite(best.scores).repeat_interleave(torch.tensor(trellis.lengths))
    return best.tags[possible], [best.scores, best.upto, log_z, alpha, found.unary, found.odds, *gradients]


@pytest.mark.parametrize("seed", range(20))
def test_only_what_tokens_have_is_read(seed, monkeypatch):
    trellis = sparse_trellis(seed)
    tags, values = results(trellis)
    monkeypatch.setattr(moves, "MANY", 1)
    live_tags, live_values = results(trellis)
    assert live_tags.tolist() == tags.tolist()
    off = tolerance(len(trellis.emissions) * len(trellis.legal), 10.0, "float64")
    for value, live in zip(values, live_values):
        torch.testing.assert_close(live, value, rtol=off, atol=off)


def test_probabilities_of_runs_are_the_same(monkeypatch):
    trellis = sparse_trellis(3)
    expected = crf.posterior(trellis)[2]
    monkeypatch.setattr(moves, "MANY", 1)
    found = crf.posterior(trellis)[2]
    off = tolerance(len(trellis.emissions) * len(trellis.legal), 10.0, "float64")
    for token in range(6):  # of the first sequence
        pairs = [part.odds[token, :, None] * part.weights * part.per_mass[token] for part in (expected, found)]
        both = trellis.allowed[token][:, None] & trellis.allowed[token + 1]
        torch.testing.assert_close(pairs[1][both], pairs[0][both], rtol=off, atol=off)


def test_few_tags_are_one_product():
    scores = np.zeros((9, 9))
    assert type(moves.make_moves(scores, np.exp(scores), np.zeros((3, 9)), [1, 1, 1])) is moves.Moves


@pytest.mark.parametrize("n_labels", [0, 1, 3, 8])
@pytest.mark.parametrize("n_tokens", [1, 50])
def test_only_legal_moves_are_read(n_labels, n_tokens, monkeypatch):
    rng, legal = np.random.default_rng(n_labels), legal_moves(4 * n_labels + 1)[:-1, :-1]
    scores = np.where(legal, rng.normal(size=legal.shape), float("-inf"))
    before = rng.normal(size=(n_tokens, len(legal)))
    before[0, 0] = float("-inf")
    expected = (before[:, :, None] + scores).max(1)
    for little in (0, 10**9):
        monkeypatch.setattr(moves, "LITTLE", little)
        assert (Moves(scores, scores).best(before, 1) == expected).all()


def test_a_tag_that_none_can_precede_is_never_reached(monkeypatch):
    monkeypatch.setattr(moves, "LITTLE", 0)
    assert (Moves(np.full((5, 5), float("-inf")), np.zeros((5, 5))).best(np.zeros((3, 5)), 1) == float("-inf")).all()
