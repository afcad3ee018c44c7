import torch
from transformers import BertConfig, BertForNextSentencePrediction

from spacy_lexner.pretraining.heads.next_sentence import IS_NEXT, IS_RANDOM, NextSentenceHead

CONFIG = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)


def test_scores_and_loss_equal_those_of_transformers():
    torch.manual_seed(0)
    peer = BertForNextSentencePrediction(CONFIG).eval()
    head = NextSentenceHead(CONFIG)
    head.pooler.load_state_dict(peer.bert.pooler.state_dict())
    head.classifier.load_state_dict(peer.cls.state_dict())
    ids = torch.randint(5, 50, (4, 6))
    labels = torch.tensor([IS_NEXT, IS_RANDOM, IS_RANDOM, IS_NEXT])
    expected = peer(input_ids=ids, labels=labels)
    loss = head.loss(peer.bert(input_ids=ids).last_hidden_state, labels)
    torch.testing.assert_close(loss.loss, expected.loss)
    assert loss.n_correct == (expected.logits.argmax(-1) == labels).sum()
