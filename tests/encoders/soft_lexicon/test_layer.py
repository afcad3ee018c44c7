"""SoftLexicon as a layer: Docs of any length and kind in, one vector per token out."""

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from tolerance import assert_all_close, assert_close, moved

from spacy_lexner.candidates.training_texts import show_training_docs
from spacy_lexner.encoders.soft_lexicon.architecture import build_soft_lexicon_v1
from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher
from spacy_lexner.lexicon.shared_matcher import SharedMatcher

NLP = spacy.blank("zh")
TEXT = "南京市长江大桥在江苏"
WORDS = ["南京", "南京市", "市长", "长江", "大桥", "长江大桥", "江苏", "在"]
N_TERMS = 40 * (2 * 50 + 4 * 6 + 16)  # the steps of the longest text, and the sum of each
NETWORKS = ["lstm", "cnn"]
pytestmark = pytest.mark.parametrize("network", NETWORKS)


def lexicon_of(words=WORDS, width=6):
    rng = np.random.default_rng(0)
    return Lexicon.from_entries([LexiconEntry(word, rng.normal(size=width).astype("f4")) for word in words])


def link(model, lexicon):
    model.layers[0].attrs["link"].source = SharedMatcher(Matcher(lexicon))
    return model


def make_model(network, lexicon=None, **settings):
    torch.manual_seed(0)
    model = build_soft_lexicon_v1(network=network, **{"width": 16, "dropout": 0.0, **settings})
    link(model, lexicon or lexicon_of())
    docs = [NLP.make_doc(TEXT)]
    show_training_docs(model, docs)
    model.initialize(X=docs)
    return model


def random_like(arrays):
    rng = np.random.default_rng(1)
    return [rng.normal(size=array.shape).astype("f4") for array in arrays]


def gradients_of(model, docs, weights):
    _, backprop = model.begin_update(docs)
    backprop(weights)
    module = model.shims[0].module
    gradients = {name: p.grad.clone() for name, p in module.named_parameters() if p.grad is not None}
    module.zero_grad(set_to_none=True)
    return gradients


def test_every_token_has_a_vector(network):
    model = make_model(network)
    docs = [NLP.make_doc(text) for text in (TEXT, "", "市", "  \n", "我 在\u3000南京", "𠮷👩‍💻\x00\u200d")]
    vectors = model.predict(docs)
    assert [array.shape for array in vectors] == [(len(doc), 16) for doc in docs]
    assert all(np.isfinite(array).all() for array in vectors)


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_batches_without_tokens(network, texts):
    model, docs = make_model(network), [NLP.make_doc(text) for text in texts]
    vectors, backprop = model.begin_update(docs)
    assert [array.shape for array in vectors] == [(0, 16)] * len(texts)
    assert backprop(vectors) == []
    assert [array.shape for array in model.predict(docs)] == [(0, 16)] * len(texts)


@pytest.mark.parametrize("max_batch_tokens", [1, 20, 10_000])
def test_company_and_batch_size_change_nothing(network, max_batch_tokens):
    model = make_model(network, max_batch_tokens=max_batch_tokens)
    docs = [NLP.make_doc(text) for text in (TEXT, "", "江苏", TEXT * 3, "不认识")]
    for doc, vectors, in_training in zip(docs, model.predict(docs), model.begin_update(docs)[0]):
        alone = model.predict([doc])[0]
        assert_close(vectors, alone, N_TERMS)
        assert_close(in_training, alone, N_TERMS)


def test_only_a_network_that_computes_padding_splits_batches_to_save_it(network, monkeypatch):
    model, encoded = make_model(network), []
    module = model.shims[0].module
    monkeypatch.setattr(module, "encode", lambda batch, encode=module.encode: encoded.append(batch) or encode(batch))
    model.predict([NLP.make_doc(TEXT * 25), *[NLP.make_doc("江苏")] * 8])  # 250 characters, and eight times two
    assert len(encoded) == (1 if network == "lstm" else 2)


def test_gradients_do_not_depend_on_batch_size(network):
    docs, found = [NLP.make_doc(text) for text in (TEXT, "江苏", TEXT * 2)], []
    for size in (1, 10_000):
        model = make_model(network, max_batch_tokens=size)
        found.append(gradients_of(model, docs, random_like(model.predict(docs))))
    assert found[0]["embedding.words.tuned"].any() and found[0]["embedding.bigrams.weight"].any()
    assert_all_close(found[1], found[0], 2 * N_TERMS)


def test_words_matter_and_so_do_their_counts(network):
    docs = [NLP.make_doc(TEXT)]
    model = make_model(network)
    before = model.predict(docs)[0]
    with torch.no_grad():
        model.shims[0].module.counts.counts[0] += 5
    assert moved(model.predict(docs)[0], before, N_TERMS).any()
    assert moved(link(model, lexicon_of(["河水"])).predict(docs)[0], before, N_TERMS).any()


def test_words_that_training_did_not_count_weigh_by_smoothing(network):
    docs = [NLP.make_doc("河水河水")]
    for smoothing, differs in ((1.0, True), (0.0, True)):  # alone in their sets they always weigh
        model = make_model(network, lexicon_of([*WORDS, "河水"]), smoothing=smoothing)
        with_words = model.predict(docs)[0]
        without = link(model, lexicon_of(["无"])).predict(docs)[0]
        assert moved(with_words, without, N_TERMS).any() == differs


def forgetful(model):
    """An LSTM without state, so that no context crosses windows; the CNN's context is as wide as it is deep."""
    network = model.shims[0].module.network
    if isinstance(network, torch.nn.LSTM):
        with torch.no_grad():
            for name, weights in network.named_parameters():
                if name.startswith("weight_hh"):
                    weights.zero_()
                elif name.startswith("bias_ih"):
                    weights[8:16] = -200.0  # of the forget gate
    return model


@pytest.mark.parametrize("length", [15, 16, 17, 48, 53])
def test_windows_give_each_token_the_vector_of_the_whole(network, length):
    docs = [NLP.make_doc((TEXT * 9)[:length]), NLP.make_doc("南京"), NLP.make_doc((TEXT * 9)[3 : length + 3])]
    options = {"window": 16, "max_batch_tokens": 40}
    whole, cut = (forgetful(make_model(network, **settings)) for settings in ({}, options))
    for vectors, others in zip(cut.predict(docs), whole.predict(docs)):
        assert_close(vectors, others, N_TERMS)


def test_tokens_of_several_characters_have_their_mean(network):
    model = make_model(network)
    characters = model.predict([NLP.make_doc("南京市长")])[0]
    doc = Doc(NLP.vocab, words=["南京市", "长"], spaces=[False, False])
    assert_close(model.predict([doc])[0], [characters[:3].mean(0), characters[3]], N_TERMS)


def test_saved_loaded_and_copied(network):
    model, docs = make_model(network), [NLP.make_doc(TEXT), NLP.make_doc("不认识的字")]
    other = build_soft_lexicon_v1(network=network, width=16).from_bytes(model.to_bytes())
    for again in (link(other, lexicon_of()), copy.deepcopy(model), model.copy()):
        for left, right in zip(model.predict(docs), again.predict(docs)):
            np.testing.assert_array_equal(left, right)


def test_threads_predict_side_by_side(network):
    model = make_model(network)
    docs = [NLP.make_doc(TEXT[i:] * (i + 1)) for i in range(8)]
    expected = [model.predict([doc])[0] for doc in docs]
    with ThreadPoolExecutor(4) as pool:
        for vectors, alone in zip(pool.map(lambda doc: model.predict([doc])[0], docs * 4), expected * 4):
            np.testing.assert_array_equal(vectors, alone)


def test_a_lexicon_of_another_width_is_refused(network):
    with pytest.raises(ValueError, match=r"vectors of 9 dimensions.*trained with 6"):
        link(make_model(network), lexicon_of(width=9)).predict([NLP.make_doc(TEXT)])


def test_no_lexicon(network):
    with pytest.raises(ValueError, match="lex_matcher"):
        build_soft_lexicon_v1(network=network).initialize(X=[NLP.make_doc(TEXT)])
