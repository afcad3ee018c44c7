import pytest
import torch
from tolerance import assert_close

from spacy_lexner.pretraining.bilm import BiLMHead, build_bilm_head

N_TERMS = 16 + 12 + 12  # a score, its sum over words, the mean of the losses
SETTINGS = {
    "width": 16,
    "n_words": 12,
    "softmax": "full",
    "n_samples": 5,
    "cutoffs": [3, 6],
    "dropout": 0.0,
    "vocabulary": "12ab",
}
SENTENCES = [[0, 5, 6, 1], [0, 7, 1], [0, 1]]  # begin is 0, end is 1


def make_batch():
    torch.manual_seed(0)
    words = torch.tensor(sum(SENTENCES, []))  # noqa: RUF017
    output = torch.randn(len(words), 32)
    return {"output": output, "words": words, "begins": words == 0, "ends": words == 1, "vocabulary": "12ab"}


def test_every_word_is_predicted_from_both_sides():
    head, batch = BiLMHead(**SETTINGS), make_batch()
    forward, backward = [], []
    rows = batch["output"].split([len(words) for words in SENTENCES])
    for words, outputs in zip(SENTENCES, rows):
        for place, word in enumerate(words):
            scores = outputs.chunk(2, dim=1)
            if place > 0:  # begin is given, end is predicted
                log_probability = torch.log_softmax(head.softmax.weight @ scores[0][place - 1] + head.softmax.bias, 0)
                forward.append(-log_probability[word])
            if place < len(words) - 1:  # end is given, begin is predicted
                log_probability = torch.log_softmax(head.softmax.weight @ scores[1][place + 1] + head.softmax.bias, 0)
                backward.append(-log_probability[word])
    losses = head(**batch, exact=True)
    parts = losses.parts
    assert_close(parts["forward"].loss, torch.stack(forward).mean(), N_TERMS)
    assert_close(parts["backward"].loss, torch.stack(backward).mean(), N_TERMS)
    assert_close(losses.total, (parts["forward"].loss + parts["backward"].loss) / 2, N_TERMS)
    assert_close(parts["perplexity"].loss, torch.stack(forward + backward).mean(), N_TERMS)
    assert parts["forward"].n_labels == parts["backward"].n_labels == len(forward) == len(backward) == 6


@pytest.mark.parametrize("softmax", ["full", "sampled", "adaptive"])
def test_one_softmax_for_both_directions(softmax):
    head = build_bilm_head({**SETTINGS, "softmax": softmax})
    n_parameters = sum(parameter.numel() for parameter in head.parameters())
    assert n_parameters == (12 * 16 + 12 if softmax != "adaptive" else 16 * 5 + 16 * 4 + 4 * 3 + 16 * 1 + 1 * 6)
    batch = make_batch()
    batch["output"].requires_grad_()
    head(**batch).total.backward()
    gradient = batch["output"].grad
    assert all(parameter.grad.abs().sum() > 0 for parameter in head.parameters())
    # Nothing follows the end, and nothing precedes the beginning.
    assert not gradient[batch["ends"], :16].any() and not gradient[batch["begins"], 16:].any()
    assert gradient[~batch["ends"], :16].any(dim=1).all() and gradient[~batch["begins"], 16:].any(dim=1).all()


def test_dropout_leaves_the_exact_loss_alone():
    head, batch = BiLMHead(**{**SETTINGS, "dropout": 0.5}), make_batch()
    first, second = head(**batch, exact=True), head(**batch, exact=True)
    assert first.total != second.total and first.parts["perplexity"].loss == second.parts["perplexity"].loss
    head.eval()
    assert head(**batch).total == head(**batch).total


def test_perplexity_is_never_estimated_from_a_sample():
    head, batch = BiLMHead(**{**SETTINGS, "softmax": "sampled"}), make_batch()
    assert "perplexity" not in head(**batch).parts
    expected = head(**batch, exact=True).parts["perplexity"].loss
    head.eval()
    assert_close(head(**batch).parts["perplexity"].loss, expected, N_TERMS)


def test_unknown_softmax():
    with pytest.raises(ValueError, match="softmax is 'hierarchical'; expected one of full, sampled, adaptive"):
        BiLMHead(**{**SETTINGS, "softmax": "hierarchical"})
