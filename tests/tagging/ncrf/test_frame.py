import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import Model
from tolerance import assert_close

from spacy_lexner.encoders.lebert.architecture import build_lebert_v1
from spacy_lexner.tagging.ncrf.frame import FramedEncoder

N_TERMS = 12 * 64  # as many layers as the default has, each with sums of at most 64
TEXTS = ["南京市长江大桥", "", "大桥很长很长很长很长很长", "a"]


def make(**options):
    nlp = spacy.blank("zh")
    docs = [nlp.make_doc(text) for text in TEXTS]
    options = {
        "hidden_width": 16,
        "heads": 2,
        "adapter_layers": [],
        "dropout": 0.0,
        "attention_dropout": 0.0,
        **options,
    }
    with pytest.warns(UserWarning, match="saw only a sample"):
        encoder = FramedEncoder(build_lebert_v1(**options))
        encoder.initialize(X=docs)
    return encoder, docs


def whole(encoder, doc):
    """What the torch module gives for a Doc with [CLS] and [SEP] around it."""
    import torch

    from spacy_lexner.encoders.shared.shim import shim_of
    from spacy_lexner.encoders.shared.wordpiece_encoder import wordpieces_of

    node = encoder.layers[0]
    pieces = wordpieces_of(node)
    ids, _ = pieces.encode([doc])
    module = shim_of(node).module.eval()
    with torch.no_grad():
        output = module.encoder(torch.tensor([[pieces.cls, *ids, pieces.sep]]))
    return output.last_hidden_state[0].numpy()


def test_has_the_vectors_of_cls_and_sep_around_the_tokens():
    encoder, docs = make()
    rows = encoder.predict(docs)
    assert [len(part) for part in rows] == [9, 0, 14, 3] and encoder.get_dim("nO") == 16
    for doc, part in zip(docs, rows):
        if len(doc):
            assert_close(part, whole(encoder, doc), N_TERMS)
    trained, _ = encoder.begin_update(docs)
    for part, other in zip(rows, trained):
        assert_close(part, other, N_TERMS)


def test_a_long_doc_has_those_of_its_first_and_last_window():
    encoder, docs = make(window=4, stride=2)
    rows = encoder.predict(docs)
    text = docs[2].text
    first, last = (encoder.predict([Doc(docs[2].vocab, list(part), [False] * 4)])[0] for part in (text[:4], text[-4:]))
    assert_close(rows[2][0], first[0], N_TERMS)
    assert_close(rows[2][-1], last[-1], N_TERMS)
    assert_close(rows[2][1:-1], encoder.layers[0].predict(docs)[2], N_TERMS)


def test_gradients_reach_the_module_from_all_rows():
    encoder, docs = make()
    parameter = dict(encoder.layers[0].shims[0].module.named_parameters())["encoder.embeddings.word_embeddings.weight"]
    for kept in (0, 3, -1):
        rows, backprop = encoder.begin_update(docs)
        gradients = [np.zeros_like(part) for part in rows]
        gradients[0][kept] = np.arange(16)
        backprop(gradients)
        assert float(parameter.grad.abs().sum()) > 0
        parameter.grad = None


def test_only_encoders_of_wordpieces():
    with pytest.raises(ValueError, match=r"'other' has no \[CLS\] and \[SEP\]"):
        FramedEncoder(Model("other", None))
