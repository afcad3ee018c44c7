"""The heads against transformers' BertForMaskedLM and BertForNextSentencePrediction, and ERNIE's by its definition."""

import pytest
import torch
from tolerance import assert_all_close, assert_close
from transformers import BertConfig, BertForMaskedLM, BertForNextSentencePrediction

from spacy_lexner.pretraining.heads import (
    IS_NEXT,
    IS_RANDOM,
    DenoisingEntityHead,
    MaskedLMHead,
    NextSentenceHead,
    cross_entropy,
)

N_TERMS = 50  # the longest sum: over the vocabulary
CONFIG = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)


@pytest.fixture
def peer():
    torch.manual_seed(0)
    return BertForMaskedLM(CONFIG).eval()


def make_head(peer: BertForMaskedLM) -> MaskedLMHead:
    head = MaskedLMHead(CONFIG)
    with torch.no_grad():
        peer.cls.predictions.bias.normal_()
    head.transform.load_state_dict(peer.cls.predictions.transform.state_dict())
    head.bias.data.copy_(peer.cls.predictions.bias.data)
    return head


def test_loss_and_gradients_equal_those_of_transformers(peer):
    head = make_head(peer)
    ids = torch.randint(5, 50, (3, 9))
    labels = torch.full((3, 9), -100)
    labels[0, 2], labels[1, 4], labels[1, 5], labels[2, 8] = 7, 8, 9, 10
    expected = peer(input_ids=ids, labels=labels)
    expected.loss.backward()
    reference = {name: p.grad.clone() for name, p in peer.named_parameters()}

    peer.zero_grad()
    masked = labels >= 0
    hidden = peer.bert(input_ids=ids).last_hidden_state
    loss = cross_entropy(head(hidden[masked], peer.bert.embeddings.word_embeddings.weight), labels[masked])
    loss.loss.backward()
    assert_close(loss.loss, expected.loss, N_TERMS)
    assert loss.n_labels == 4
    assert loss.n_correct == (expected.logits.argmax(-1) == labels).sum()
    found = {f"bert.{name}": p.grad for name, p in peer.bert.named_parameters()}  # the tied table among them
    found |= {f"cls.predictions.transform.{name}": p.grad for name, p in head.transform.named_parameters()}
    found["cls.predictions.bias"] = head.bias.grad
    assert_all_close(found, reference, 2 * N_TERMS)  # forward and backward


def test_only_the_given_rows_are_decoded(peer):
    hidden, rows = torch.randn(40, 16), torch.tensor([3, 17, 21])
    scores = make_head(peer)(hidden[rows], peer.bert.embeddings.word_embeddings.weight)
    assert scores.shape == (3, 50)
    assert_close(scores, peer.cls(hidden)[rows], N_TERMS)


def test_nothing_masked_gives_loss_zero_and_no_nan(peer):
    head = make_head(peer)
    scores = head(torch.zeros(0, 16), peer.bert.embeddings.word_embeddings.weight)
    loss = cross_entropy(scores, torch.zeros(0, dtype=torch.long))
    loss.loss.backward()
    assert loss.loss.item() == 0 and loss.n_labels == 0
    assert not any(p.grad.any() for p in head.parameters())


def test_the_head_owns_no_decoder_table():
    assert all(p.numel() != 50 * 16 for p in MaskedLMHead(CONFIG).parameters())


def test_next_sentence_scores_and_loss_equal_those_of_transformers():
    torch.manual_seed(0)
    peer = BertForNextSentencePrediction(CONFIG).eval()
    head = NextSentenceHead(CONFIG)
    head.pooler.load_state_dict(peer.bert.pooler.state_dict())
    head.classifier.load_state_dict(peer.cls.state_dict())
    ids = torch.randint(5, 50, (4, 6))
    labels = torch.tensor([IS_NEXT, IS_RANDOM, IS_RANDOM, IS_NEXT])
    expected = peer(input_ids=ids, labels=labels)
    loss = cross_entropy(head(peer.bert(input_ids=ids).last_hidden_state), labels)
    assert_close(loss.loss, expected.loss, N_TERMS)
    assert loss.n_correct == (expected.logits.argmax(-1) == labels).sum()


def test_a_batch_without_entities_has_loss_zero_and_zero_gradients():
    head = DenoisingEntityHead(8, 4)
    hidden = torch.zeros(0, 8, requires_grad=True)
    loss = cross_entropy(head(hidden, torch.zeros(1, 4)), torch.zeros(0, dtype=torch.long))
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
    loss = cross_entropy(scores, torch.ones(5, dtype=torch.long))
    assert_close(loss.loss, torch.nn.functional.softplus(-scores[:, 1]).mean(), N_TERMS)
    assert loss.n_labels == 5 and 0 <= loss.n_correct <= 5
