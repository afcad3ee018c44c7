"""FLAT as a layer: Docs of any length and kind in, one vector per token out."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from thinc.api import Adam, Model
from tolerance import assert_all_close, assert_close, moved, slope

from spacy_lexner.candidates.training_texts import show_training_docs
from spacy_lexner.encoders.flat.layer import FlatEncoder, FlatOptions
from spacy_lexner.encoders.flat.options import Embedding, SubLayers
from spacy_lexner.encoders.flat.setup import FlatSetup
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher
from spacy_lexner.lexicon.shared_matcher import SharedMatcher

TEXT = "南京市长江大桥在江苏"
N_TERMS = 100  # the longest sum: the vectors of a character and of its bigram, 50 values each
WORDS = ["南京", "南京市", "市长", "长江", "大桥", "江苏"]
QUIET = {
    "embedding": Embedding(token_dropout=0.0, character_dropout=0.0, word_dropout=0.0),
    "sublayers": SubLayers(inner_dropout=0.0, output_dropout=0.0),
}
NLP = spacy.blank("zh")


def make_lexicon(words=WORDS, width=6, seed=0):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(len(words), width)).astype("f4") if width else [None] * len(words)
    return Lexicon.from_entries([LexiconEntry(word, vector) for word, vector in zip(words, vectors)])


def link(model, lexicon):
    model.layers[0].attrs["link"].source = SharedMatcher(Matcher(lexicon))
    return model


def make_model(lexicon=None, options=None, texts=(TEXT,), contextual=None, **setup):
    torch.manual_seed(0)
    setup = FlatSetup(**{"width": 16, "heads": 2, **QUIET, **setup})
    model = FlatEncoder(setup, FlatOptions(**(options or {})), contextual)
    if "lexicon" in model.attrs["nodes"]:
        link(model, make_lexicon() if lexicon is None else lexicon)
    docs = [NLP.make_doc(text) for text in texts]
    show_training_docs(model, docs)
    model.initialize(X=docs)
    return model


def without_context(model):
    """Without attention, a vector depends only on its character."""
    with torch.no_grad():
        for layer in model.shims[0].module.encoder.layers:
            layer.attention.value.weight.zero_()
            layer.attention.value.bias.zero_()
    return model


def gradients_of(model, docs, weights):
    _, backprop = model.begin_update(docs)
    backprop(weights)
    module = model.shims[0].module
    gradients = {name: p.grad.clone() for name, p in module.named_parameters() if p.grad is not None}
    module.zero_grad(set_to_none=True)
    return gradients


def random_like(arrays):
    rng = np.random.default_rng(1)
    return [rng.normal(size=array.shape).astype("f4") for array in arrays]


def constant_encoder(width=3, n_out=3):
    """A sub-model with one parameter, whose vectors count tokens."""

    def forward(model, docs, is_train):
        model.attrs["calls"].append(is_train)
        W = model.get_param("W")
        rows = [np.arange(len(doc), dtype="f4")[:, None] * W for doc in docs]

        def backprop(gradients):
            for doc, gradient in zip(docs, gradients):
                model.inc_grad("W", (np.arange(len(doc), dtype="f4")[:, None] * gradient).sum(0))
            return []

        return rows, backprop

    model = Model("constant", forward, params={"W": None}, dims={"nO": n_out}, attrs={"calls": []})
    model.set_param("W", np.ones(width, dtype="f4"))
    return model


def test_every_token_has_a_vector():
    model = make_model()
    docs = [NLP.make_doc(text) for text in (TEXT, "", "市", "  \n", "我 在\u3000南京", "𠮷👩‍💻\x00\u200d")]
    vectors = model.predict(docs)
    assert [array.shape for array in vectors] == [(len(doc), 16) for doc in docs]
    assert all(array.dtype == np.float32 and np.isfinite(array).all() for array in vectors)
    assert model.get_dim("nO") == 16


@pytest.mark.parametrize("contextual", [False, True])
@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_batches_without_tokens(texts, contextual):
    model = make_model(contextual=constant_encoder() if contextual else None)
    docs = [NLP.make_doc(text) for text in texts]
    vectors, backprop = model.begin_update(docs)
    assert [array.shape for array in vectors] == [(0, 16)] * len(texts)
    assert backprop(vectors) == []
    assert [array.shape for array in model.predict(docs)] == [(0, 16)] * len(texts)


def test_tokens_of_several_characters_have_their_mean():
    model = make_model(words="none")
    characters = model.predict([NLP.make_doc("南京市长")])[0]
    doc = Doc(NLP.vocab, words=["南京市", "长"], spaces=[False, False])
    tokens = model.predict([doc])[0]
    assert_close(tokens, [characters[:3].mean(0), characters[3]], N_TERMS)
    weights = random_like([tokens])
    gradient = gradients_of(model, [doc], weights)["embedding.project_characters.weight"]
    spread = [np.concatenate([np.repeat(weights[0][:1] / 3, 3, axis=0), weights[0][1:]])]
    expected = gradients_of(model, [NLP.make_doc("南京市长")], spread)["embedding.project_characters.weight"]
    assert_close(gradient, expected, 2 * N_TERMS)  # forward and backward


def test_words_matter():
    model, doc = make_model(), NLP.make_doc(TEXT)
    with_words = model.predict([doc])[0]
    without_words = link(model, make_lexicon(["河水"])).predict([doc])[0]
    assert moved(with_words, without_words, N_TERMS).any(axis=1).all()


def test_without_words():
    model = make_model(words="none")
    assert model.layers == []
    assert model.predict([NLP.make_doc(TEXT)])[0].shape == (10, 16)
    assert make_model(make_lexicon([])).predict([NLP.make_doc(TEXT)])[0].shape == (10, 16)


@pytest.mark.parametrize("max_batch_tokens", [1, 20, 10_000])
def test_company_and_batch_size_change_nothing(max_batch_tokens):
    model = make_model(options={"max_batch_tokens": max_batch_tokens})
    docs = [NLP.make_doc(text) for text in (TEXT, "", "江苏", TEXT * 3, "南京市", "大桥" * 5)]
    together = model.predict(docs)
    trained, _ = model.begin_update(docs)
    for doc, vectors, in_training in zip(docs, together, trained):
        assert_close(model.predict([doc])[0], vectors, N_TERMS)
        assert_close(in_training, vectors, N_TERMS)


def test_gradients_do_not_depend_on_batch_size():
    docs = [NLP.make_doc(text) for text in (TEXT, "", "江苏", TEXT * 3, "南京市")]
    found = []
    for max_batch_tokens in (1, 10_000):
        model = make_model(options={"max_batch_tokens": max_batch_tokens})
        found.append(gradients_of(model, docs, random_like(model.predict(docs))))
    assert_all_close(found[1], found[0], 2 * N_TERMS)


WINDOW = 16


@pytest.mark.parametrize("length", [WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW, 3 * WINDOW + 5])
def test_windows_give_each_token_the_vector_of_the_whole(length):
    """Without context across windows nothing may change: each token and each gradient is in its place."""
    docs = [NLP.make_doc((TEXT * 9)[:length]), NLP.make_doc("南京"), NLP.make_doc((TEXT * 9)[3 : length + 3])]
    sublayers = replace(QUIET["sublayers"], residual="input")
    cutting = {"window": WINDOW, "max_batch_tokens": 40}
    whole, cut = (without_context(make_model(sublayers=sublayers, options=options)) for options in ({}, cutting))
    expected = whole.predict(docs)
    assert moved(expected[0][0], expected[0][1], N_TERMS).any()
    for vectors, others in zip(cut.predict(docs), expected):
        assert_close(vectors, others, N_TERMS)
    weights = random_like(expected)
    gradients, others = gradients_of(cut, docs, weights), gradients_of(whole, docs, weights)
    name = "embedding.project_characters.weight"
    assert_close(gradients[name], others[name], 2 * N_TERMS)


def test_words_cut_by_the_edge_of_a_window_stay_out():
    """Windows of 4 over 南京市|长江大|桥在: all cut 市长江大; the first, read for 3 tokens, has no 大桥."""
    doc = NLP.make_doc("南京市长江大桥在")
    for words, n_unchanged in ((["市长江大"], 8), (["市长江大", "大桥"], 3)):
        model = make_model(make_lexicon(words), options={"window": 4})
        with_words = model.predict([doc])[0]
        without_words = link(model, make_lexicon(["河水"])).predict([doc])[0]
        changed = moved(with_words, without_words, N_TERMS).any(axis=1)
        assert changed.tolist() == [False] * n_unchanged + [True] * (8 - n_unchanged)


def test_more_words_than_characters_and_a_word_as_long_as_the_doc():
    text = "南京市长江大桥"
    words = sorted({text[i:j] for i in range(7) for j in range(i + 1, 8)})
    for max_words in (4.0, 1.0, 0.0):
        model = make_model(make_lexicon(words), options={"single_chars": "keep", "max_words": max_words})
        assert np.isfinite(model.predict([NLP.make_doc(text), NLP.make_doc("南")])[0]).all()


def test_contextual_vectors_and_their_gradients():
    contextual = constant_encoder()
    sublayers = replace(QUIET["sublayers"], residual="input", shared_norm=False)  # smoother
    model = make_model(contextual=contextual, sublayers=sublayers)
    docs = [NLP.make_doc("南京"), Doc(NLP.vocab, words=["南", "京市", "长"]), NLP.make_doc("")]
    weights = random_like(model.predict(docs))
    _, backprop = model.begin_update(docs)
    backprop(weights)
    gradient = contextual.get_grad("W").copy()

    def loss(step):
        contextual.get_param("W")[1] = 1.0 + step
        return sum(float((a * b).sum()) for a, b in zip(model.predict(docs), weights))

    total = sum(float(np.abs(a * b).sum()) for a, b in zip(model.predict(docs), weights))
    assert float(gradient[1]) == slope(loss, 1e-2, N_TERMS, total)


def test_the_contextual_sub_model_is_frozen_at_first():
    contextual = constant_encoder()
    model = make_model(contextual=contextual, options={"freeze_steps": 2})
    docs = [NLP.make_doc("南京")]
    model.predict(docs)
    contextual.attrs["calls"].clear()
    for frozen in (True, True, False):
        for _ in range(2):  # parts of a batch
            vectors, backprop = model.begin_update(docs)
            backprop(random_like(vectors))
        assert contextual.has_grad("W") != frozen
        model.shims[0].finish_update(Adam(0.001, use_averages=False))
        if model.attrs["n_updates"] == 1:
            model.from_bytes(model.to_bytes())  # a resumed training keeps counting
            contextual.attrs["calls"] = [False, False]
    assert contextual.attrs["calls"] == [False, False, False, False, True, True]


def test_a_frozen_listener_gets_a_gradient_of_zero():
    class Listener(Model):
        def receive(self):
            """As spaCy's listeners have."""

    seen = []

    def forward(model, docs, is_train):
        return [np.ones((len(doc), 3), dtype="f4") for doc in docs], lambda gradients: seen.extend(gradients) or []

    model = make_model(contextual=Listener("listener", forward, dims={"nO": 3}), options={"freeze_steps": 1})
    for _ in range(2):
        vectors, backprop = model.begin_update([NLP.make_doc("南京"), NLP.make_doc("市")])
        backprop(random_like(vectors))
        model.shims[0].finish_update(Adam(0.001, use_averages=False))
    assert [gradient.shape for gradient in seen] == [(2, 3), (1, 3)] * 2
    assert [bool(gradient.any()) for gradient in seen] == [False, False, True, True]


def test_a_sub_model_of_unknown_width():
    contextual = constant_encoder(n_out=None)
    model = make_model(contextual=contextual)
    assert model.shims[0].module.embedding.contextual_width == 3
    unsure = FlatEncoder(FlatSetup(words="none"), FlatOptions(), contextual)
    show_training_docs(unsure, [NLP.make_doc("南")])
    with pytest.raises(ValueError, match="width of the contextual sub-model"):
        unsure.initialize()


def test_saved_and_loaded():
    model, docs = make_model(contextual=constant_encoder()), [NLP.make_doc(TEXT), NLP.make_doc("不认识的字")]
    other = FlatEncoder(model.attrs["setup"], model.attrs["options"], constant_encoder())
    other.from_bytes(model.to_bytes())
    link(other, make_lexicon())
    for left, right in zip(model.predict(docs), other.predict(docs)):
        np.testing.assert_array_equal(left, right)
    copied = copy.deepcopy(model)
    np.testing.assert_array_equal(copied.predict(docs)[0], model.predict(docs)[0])


def test_a_copy_reads_the_same_words():
    model, docs = make_model(), [NLP.make_doc(TEXT)]
    for copied in (copy.deepcopy(model), model.copy()):
        np.testing.assert_array_equal(copied.predict(docs)[0], model.predict(docs)[0])


def test_a_lexicon_of_another_width_is_refused():
    model = link(make_model(), make_lexicon(width=9))
    with pytest.raises(ValueError, match=r"vectors of 9 dimensions.*trained with 6"):
        model.predict([NLP.make_doc(TEXT)])


def test_no_lexicon():
    model = FlatEncoder(FlatSetup(), FlatOptions())
    with pytest.raises(ValueError, match="lex_matcher"):
        model.initialize(X=[NLP.make_doc(TEXT)])


@pytest.mark.parametrize(
    "options,message",
    [
        ({"window": 0}, r"window\s+got 0, expected int of at least 1"),
        ({"max_words": -1}, r"max_words\s+got -1, expected float of at least 0"),
        ({"freeze_steps": -1}, r"freeze_steps\s+got -1"),
        ({"single_chars": "none"}, r"single_chars\s+got 'none', expected one of 'keep', 'drop'"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError, match=message):
        FlatOptions(**options)


@pytest.mark.slow
def test_a_doc_of_100_000_characters_needs_little_memory():
    import resource

    model = make_model(width=160, heads=8)
    docs = [NLP.make_doc(""), NLP.make_doc(TEXT * 10_000)]
    model.predict(docs[:1])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert model.predict(docs)[1].shape == (100_000, 160)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1.5 * 2**20


def test_other_nodes_of_the_tree_may_be_replaced():
    """thinc reads every reference of every node, which fails for one that is not set."""
    for settings in ({}, {"words": "none"}):
        model = FlatEncoder(FlatSetup(**settings), FlatOptions())
        before, after = Model("before", lambda *_: None), Model("after", lambda *_: None)
        tree = Model("tree", lambda *_: None, layers=[model, before])
        tree.replace_node(before, after)
        assert tree.layers == [model, after]
