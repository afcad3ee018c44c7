import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from thinc.api import Model
from tolerance import assert_close, moved, slope

from spacy_lexner.candidates.training_texts import show_training_docs
from spacy_lexner.encoders.word_bilstm.architecture import build_word_bilstm_v1
from spacy_lexner.encoders.word_bilstm.layer import make_batches
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher
from spacy_lexner.lexicon.shared_matcher import SharedMatcher

NLP = spacy.blank("zh")
TEXT = "南京市长江大桥"
N_TERMS = 21 * (7 + 5)  # the steps of the longest text, and the sum of each: 4 + 3 values of input, 5 of state
WORDS = ["南京", "南京市", "市长", "长江", "大桥", "长江大桥"]


def lexicon_of(words=WORDS, width=3):
    rng = np.random.default_rng(0)
    return Lexicon.from_entries([LexiconEntry(word, rng.normal(size=width).astype("f4")) for word in words])


def counting(n_out=4):
    """An encoder with one parameter, whose vectors count tokens."""

    def forward(model, docs, is_train):
        W = model.get_param("W")
        rows = [np.arange(1, len(doc) + 1, dtype="f4")[:, None] * W for doc in docs]

        def backprop(gradients):
            for doc, gradient in zip(docs, gradients):
                model.inc_grad("W", (np.arange(1, len(doc) + 1, dtype="f4")[:, None] * gradient).sum(0))
            return []

        return rows, backprop

    model = Model("counting", forward, params={"W": None}, dims={"nO": n_out})
    model.set_param("W", np.linspace(0.1, 0.4, 4, dtype="f4"))
    return model


def link(model, lexicon):
    model.layers[0].attrs["link"].source = SharedMatcher(Matcher(lexicon))
    return model


def make_model(lexicon=None, tok2vec=None, **setup):
    torch.manual_seed(0)
    model = build_word_bilstm_v1(tok2vec or counting(), **{"hidden_width": 5, "dropout": 0.0, **setup})
    link(model, lexicon or lexicon_of())
    docs = [NLP.make_doc(TEXT)]
    show_training_docs(model, docs)
    model.initialize(X=docs)
    return model


def test_every_token_has_a_vector():
    docs = [NLP.make_doc(text) for text in (TEXT, "", "市", "南 京")] + [Doc(NLP.vocab, words=["南京市", "长"])]
    vectors = make_model().predict(docs)
    assert [array.shape for array in vectors] == [(len(doc), 10) for doc in docs]
    assert all(np.isfinite(array).all() for array in vectors)


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_batches_without_tokens(texts):
    model, docs = make_model(), [NLP.make_doc(text) for text in texts]
    vectors, backprop = model.begin_update(docs)
    assert [array.shape for array in vectors] == [(0, 10)] * len(texts)
    assert backprop(vectors) == []


@pytest.mark.parametrize("max_batch_tokens", [1, 9, 1000])
def test_company_and_batch_size_change_nothing(max_batch_tokens):
    model = make_model(max_batch_tokens=max_batch_tokens)
    docs = [NLP.make_doc(text) for text in (TEXT, "", "江苏", TEXT * 3, "南京市")]
    for doc, vectors, in_training in zip(docs, model.predict(docs), model.begin_update(docs)[0]):
        assert_close(model.predict([doc])[0], vectors, N_TERMS)
        assert_close(in_training, vectors, N_TERMS)


def test_an_lstm_splits_no_batch_to_save_padding():
    docs = [NLP.make_doc(text) for text in (TEXT * 25, *["江苏"] * 8)]
    assert len(list(make_batches(make_model(), docs, np.ones(191, "i8")))) == 1


def test_words_matter():
    model, docs = make_model(), [NLP.make_doc(TEXT)]
    before = model.predict(docs)[0]
    assert moved(link(model, lexicon_of(["河水"])).predict(docs)[0], before, N_TERMS).any()


def test_gradients_reach_the_encoder_and_the_words():
    tok2vec = counting()
    model = make_model(tok2vec=tok2vec, words="finetuned")
    docs = [NLP.make_doc(text) for text in (TEXT, "", "市长")]
    rng = np.random.default_rng(1)
    weights = [rng.normal(size=array.shape).astype("f4") for array in model.predict(docs)]
    _, backprop = model.begin_update(docs)
    backprop(weights)
    gradient = tok2vec.get_grad("W").copy()
    assert model.shims[0].module.words.tuned.grad.any()
    start = float(tok2vec.get_param("W")[1])

    def loss(step):
        tok2vec.get_param("W")[1] = start + step
        return sum(float((a * b).sum()) for a, b in zip(model.predict(docs), weights))

    assert float(gradient[1]) == slope(loss, 1e-2, N_TERMS)


def test_width_known_from_a_doc_and_saved():
    model = make_model(tok2vec=counting(n_out=None), words="finetuned")
    other = build_word_bilstm_v1(counting(n_out=None), hidden_width=5, dropout=0.0, words="finetuned")
    other = link(other, lexicon_of()).from_bytes(model.to_bytes())
    docs = [NLP.make_doc(TEXT)]
    np.testing.assert_array_equal(other.predict(docs)[0], model.predict(docs)[0])


def test_a_mere_sample_is_warned_of():
    model = link(build_word_bilstm_v1(counting(), hidden_width=5, words="finetuned"), lexicon_of())
    with pytest.warns(UserWarning, match=r'(?s)saw only a sample of 1;.*words = "frozen".*collect_texts\.v1'):
        model.initialize(X=[NLP.make_doc(TEXT)])
    assert len(model.shims[0].module.words.tuned) == len(WORDS)


def test_a_lexicon_of_another_width_is_refused():
    with pytest.raises(ValueError, match=r"vectors of 9 dimensions.*trained with 3"):
        link(make_model(), lexicon_of(width=9)).predict([NLP.make_doc(TEXT)])


@pytest.mark.parametrize(
    "options", [{"hidden_width": 0}, {"words": "none"}, {"empty": "one"}, {"policy": "all"}, {"dropout": 1.5}]
)
def test_impossible_options(options):
    ((name, value),) = options.items()
    with pytest.raises(ValueError, match=rf"WordBiLSTM -> {name}\s+got {value!r}, expected"):
        build_word_bilstm_v1(counting(), **options)
