import pytest
import torch
from tolerance import assert_all_close, assert_close, near

from spacy_lexner.pretraining.softmax import AdaptiveSoftmax, FullSoftmax, SampledSoftmax, sample_log_uniform

WIDTH, WORDS = 16, 40
N_TERMS = WIDTH + WORDS  # a score, and its sum over words


def make_case(softmax, n_rows=7):
    torch.manual_seed(0)
    hidden = torch.randn(n_rows, WIDTH, requires_grad=True)
    return hidden, torch.randint(len(getattr(softmax, "bias", range(WORDS))), (n_rows,))


@pytest.mark.parametrize("at_once", [1, 3 * WORDS, 1 << 24])
def test_full_softmax_in_parts(monkeypatch, at_once):
    monkeypatch.setattr("spacy_lexner.pretraining.softmax.SCORES_AT_ONCE", at_once)
    softmax = FullSoftmax(WIDTH, WORDS)
    hidden, words = make_case(softmax)
    expected = -torch.log_softmax(hidden @ softmax.weight.T + softmax.bias, dim=1)[torch.arange(7), words]
    losses = softmax(hidden, words)
    assert_close(losses, expected, N_TERMS)
    ours = torch.autograd.grad(losses.sum(), [hidden, softmax.weight, softmax.bias])
    theirs = torch.autograd.grad(expected.sum(), [hidden, softmax.weight, softmax.bias])
    assert_all_close(ours, theirs, 2 * N_TERMS)  # forward and backward


def test_a_sample_is_distinct_and_expected_as_it_says():
    torch.manual_seed(0)
    n_words, n_samples, n_rounds = 60, 20, 3000
    drawn, expected = torch.zeros(n_words), torch.zeros(n_words)
    for _ in range(n_rounds):
        sample = sample_log_uniform(n_samples, n_words)
        assert len(sample.words.unique()) == n_samples and sample.n_draws >= n_samples
        drawn[sample.words] += 1
        expected += sample.log_expected(torch.arange(n_words)).exp()
    # Stopping at the n-th distinct word makes the formula (TensorFlow's too) an approximation to within some percent.
    torch.testing.assert_close(drawn / n_rounds, expected / n_rounds, atol=0.04, rtol=0.05)
    assert drawn[0] > drawn[10] > drawn[59] > 0


def test_the_last_words_are_found_as_well():
    """A sample of nearly all words takes many draws, but not forever."""
    sample = sample_log_uniform(99, 100)
    assert len(sample.words.unique()) == 99 and sample.n_draws > 99


def test_sampled_softmax_by_its_definition():
    torch.manual_seed(0)
    softmax = SampledSoftmax(WIDTH, WORDS, 12)
    hidden, words = make_case(softmax)
    torch.manual_seed(3)
    losses = softmax(hidden, words)
    torch.manual_seed(3)
    sample = sample_log_uniform(12, WORDS)
    scores = hidden @ softmax.weight.T + softmax.bias - sample.log_expected(torch.arange(WORDS))
    for row, (loss, right) in enumerate(zip(losses, words)):
        others = [word for word in sample.words.tolist() if word != right]
        expected = torch.logsumexp(scores[row][[int(right), *others]], dim=0) - scores[row, right]
        assert_close(loss, expected, N_TERMS)
    softmax.eval()
    assert_close(softmax(hidden, words), softmax.exact(hidden, words), N_TERMS)


def test_the_correction_makes_the_sampled_gradient_that_of_the_full_softmax():
    """With a large sample and the correction, both agree on average. Without it, gradients of frequent words would be
    88 % too large and those of rare ones 47 % too small; the standard error of the mean of 300 samples is 0.8 %."""
    torch.manual_seed(0)
    softmax = SampledSoftmax(WIDTH, 400, 200)
    softmax.weight.data.mul_(0.3)
    hidden, words = torch.randn(20, WIDTH), torch.randint(5, (20,))
    exact = torch.autograd.grad(softmax.exact(hidden, words).sum(), softmax.bias)[0]
    total = torch.zeros_like(exact)
    for _ in range(300):
        total += torch.autograd.grad(softmax(hidden, words).sum(), softmax.bias)[0] / 300
    assert float((total - exact).abs().max()) < 0.01 * float(exact.abs().max())
    frequent, rare = total[5:60].mean(), total[300:].mean()  # a log-uniform sample holds the first ones more often
    assert float(frequent) == pytest.approx(float(exact[5:60].mean()), rel=4 * 0.008)
    assert float(rare) == pytest.approx(float(exact[300:].mean()), rel=4 * 0.008)


def test_adaptive_softmax_is_a_distribution():
    torch.manual_seed(0)
    softmax = AdaptiveSoftmax(WIDTH, WORDS, [5, 20])
    hidden = torch.randn(1, WIDTH)
    losses = softmax(hidden.expand(WORDS, -1), torch.arange(WORDS))
    assert float((-losses.detach()).exp().sum()) == near(1.0, N_TERMS, losses)
    assert_close(softmax.exact(hidden, torch.tensor([3])), losses[3:4], N_TERMS)


@pytest.mark.parametrize("cutoffs", [[], [0, 5], [5, 5], [9, 4], [5, 40]])
def test_wrong_cutoffs(cutoffs):
    with pytest.raises(ValueError, match="expected ascending numbers"):
        AdaptiveSoftmax(WIDTH, WORDS, cutoffs)


def test_too_many_clusters():
    with pytest.raises(ValueError, match="too many"):
        AdaptiveSoftmax(WIDTH, WORDS, [5, 10, 20])


@pytest.mark.parametrize("n_samples", [0, WORDS, 8192])
def test_wrong_samples(n_samples):
    with pytest.raises(ValueError, match=f"n_samples is {n_samples}; expected 1 to "):
        SampledSoftmax(WIDTH, WORDS, n_samples)
