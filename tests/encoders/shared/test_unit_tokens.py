"""Encoders read characters and give one row per token, whatever the tokens are."""

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from tolerance import assert_close
from word_tokens import in_words

from spacy_lexner.candidates.unit_docs import READS_TOKENS
from spacy_lexner.encoders.shared.units import node_of

TEXT = "南京市长江大桥很长ab1"
WORDS = ["南京", "南京市", "市长", "长江", "长江大桥", "大桥"]
LEBERT = {"@architectures": "spacy-lexner.LEBERT.v1", "hidden_width": 16, "heads": 2, "intermediate_width": 16}
ENCODERS = {
    "lebert": LEBERT,
    "flat": {"@architectures": "spacy-lexner.FLAT.v1", "width": 16, "heads": 2},
    "soft_lexicon": {"@architectures": "spacy-lexner.SoftLexicon.v1", "width": 16},
    "word_bilstm": {"@architectures": "spacy-lexner.WordBiLSTM.v1", "tok2vec": LEBERT, "hidden_width": 8},
}
pytestmark = pytest.mark.filterwarnings("ignore:.*saw only a sample")


@pytest.fixture(scope="module", params=ENCODERS)
def nlp(request):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(WORDS)
    nlp.add_pipe("tok2vec", config={"model": ENCODERS[request.param]})
    torch.manual_seed(0)
    nlp.initialize(lambda: [spacy.training.Example.from_dict(nlp.make_doc(TEXT), {})])
    return nlp


def encoder(nlp):
    return nlp.get_pipe("tok2vec").model


def docs_of(nlp):
    whole = nlp.make_doc(TEXT)
    return [in_words(whole, 3, 1), Doc(nlp.vocab), whole, in_words(whole, 5), in_words(whole, len(whole))]


def borders(doc):
    return [(token.idx, token.idx + len(token)) for token in doc]


def test_rows_are_the_means_of_characters(nlp):
    docs, model = docs_of(nlp), encoder(nlp)
    characters = model.predict([nlp.make_doc(TEXT)])[0]
    for doc, rows in zip(docs, model.predict(docs), strict=True):
        expected = [characters[start:end].mean(0) for start, end in borders(doc)]
        assert rows.shape == (len(doc), model.get_dim("nO"))
        assert_close(rows, np.array(expected).reshape(rows.shape), 500)


def test_gradients_are_shared_by_characters(nlp):
    """The gradient of a word's row is that of its characters' rows, each with its share."""
    docs, model = docs_of(nlp), encoder(nlp)
    rng = np.random.default_rng(0)
    given = [rng.normal(size=(len(doc), model.get_dim("nO"))).astype("f4") for doc in docs]
    shares = [
        np.repeat(own / np.diff(borders(doc), axis=1), [end - start for start, end in borders(doc)], axis=0)
        if len(doc)
        else own
        for own, doc in zip(given, docs)
    ]
    characters = [nlp.make_doc(doc.text) for doc in docs]
    shims = [shim for node in model.walk() for shim in node.shims]
    found = []
    for batch, gradients in ((docs, given), (characters, [own.astype("f4") for own in shares])):
        for shim in shims:
            shim._model.zero_grad()
        spacy.util.fix_random_seed(0)  # the same dropout
        _, backprop = model.begin_update(batch)
        backprop(gradients)
        found.append([w.grad.clone() for shim in shims for w in shim._model.parameters() if w.grad is not None])
    assert len(found[0]) == len(found[1]) > 5
    for gradient, expected in zip(*found):
        torch.testing.assert_close(gradient, expected, atol=1e-4, rtol=1e-3)


def test_white_space_that_is_a_token(nlp):
    """A white-space token that is not a unit gets the row of the character before it; none is lost."""
    words = ["南京", " ", "市\n", "\n", "长 江", "大"]
    doc = Doc(nlp.vocab, words, spaces=[False] * len(words))
    model = encoder(nlp)
    [rows], [characters] = (model.predict([each]) for each in (doc, nlp.make_doc(doc.text)))
    texts = [token.text for token in nlp.make_doc(doc.text)]
    assert texts == ["南", "京", "市", "\n\n", "长", "江", "大"]
    for row, units in zip(rows, [[0, 1], [1], [], [3], [4, 5], [6]], strict=True):
        assert np.isfinite(row).all()
        if units:  # 市 and a part of the white space are some mean of both
            assert_close(row, characters[units].mean(0), 500)


def test_what_reads_tokens_gets_tokens():
    """A sub-model that reads tokens leaves those of the Doc as they are."""
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(WORDS)
    elmo = {"@architectures": "spacy-lexner.ELMo.v1", "projection_dim": 8, "cell_dim": 8, "filters": [[1, 8]]}
    nlp.add_pipe("tok2vec", config={"model": {**ENCODERS["flat"], "contextual": elmo}})
    nlp.initialize(lambda: [spacy.training.Example.from_dict(nlp.make_doc(TEXT), {})])
    flat = encoder(nlp)
    inner, doc = node_of(flat, "contextual"), in_words(nlp.make_doc(TEXT), 3)
    assert inner.attrs[READS_TOKENS] and inner.predict([doc])[0].shape[0] == len(doc) == 4
    assert flat.predict([doc])[0].shape == (4, 16)
