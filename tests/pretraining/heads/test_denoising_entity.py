import torch

from spacy_lexner.pretraining.heads.denoising_entity import DenoisingEntityHead


def test_a_batch_without_entities_has_loss_zero_and_zero_gradients():
    head = DenoisingEntityHead(8, 4)
    hidden = torch.zeros(0, 8, requires_grad=True)
    loss = head.loss(hidden, torch.zeros(1, 4), torch.zeros(0, dtype=torch.long))
    loss.loss.backward()
    assert (loss.loss.item(), loss.n_correct.item(), loss.n_labels) == (0.0, 0, 0)
    assert all(p.grad is not None and not p.grad.any() for p in head.parameters())


def test_one_entity_throughout_the_batch_still_competes_with_no_entity():
    torch.manual_seed(0)
    head = DenoisingEntityHead(8, 4)
    candidates = torch.stack([torch.zeros(4), torch.randn(4)])
    hidden = torch.randn(5, 8)
    scores = head(hidden, candidates)
    assert not scores[:, 0].any()  # the zero vector
    loss = head.loss(hidden, candidates, torch.ones(5, dtype=torch.long))
    torch.testing.assert_close(loss.loss, torch.nn.functional.softplus(-scores[:, 1]).mean())
    assert loss.n_labels == 5 and 0 <= loss.n_correct <= 5
