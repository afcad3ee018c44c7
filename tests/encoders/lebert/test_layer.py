"""The encoder as a layer: Docs of any length and kind in, one vector per token out."""

import threading

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from thinc.api import Adam
from tolerance import assert_all_close, assert_close, moved, slope

from spacy_lexner.candidates.training_texts import show_training_docs
from spacy_lexner.encoders.lebert.architecture import build_lebert_v1
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher
from spacy_lexner.lexicon.shared_matcher import SharedMatcher

TEXT = "南京市长江大桥在江苏"
N_TERMS = 2 * 64  # layers, and their longest sum: over the wordpieces of a text
WORDS = ["南京", "南京市", "市长", "长江", "大桥", "江苏"]
SIZES = {"hidden_width": 16, "depth": 2, "heads": 2, "intermediate_width": 32, "dropout": 0.0, "attention_dropout": 0.0}
NLP = spacy.blank("zh")


def make_lexicon(words=WORDS, width=6, seed=0):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(len(words), width)).astype("f4") if width else [None] * len(words)
    return Lexicon.from_entries([LexiconEntry(word, vector) for word, vector in zip(words, vectors)])


def link(model, lexicon):
    source = SharedMatcher(Matcher(lexicon))
    for node in model.layers:
        node.attrs["link"].source = source
    return model


def make_model(lexicon=None, options=None, texts=(TEXT,), **setup):
    torch.manual_seed(0)
    model = build_lebert_v1(**{**SIZES, **setup, **(options or {})})
    link(model, make_lexicon() if lexicon is None else lexicon)
    docs = [NLP.make_doc(text) for text in texts]
    show_training_docs(model, docs)
    model.initialize(X=docs)
    return model


def strengthen(model):
    """Larger weights, so that differences show."""
    with torch.no_grad():
        for parameter in model.shims[0].module.parameters():
            if parameter.dim() > 1:
                parameter.mul_(10)
    return model


def without_context(model):
    """Without attention and positions, a vector depends only on its wordpiece and its words."""
    with torch.no_grad():
        for name, parameter in model.shims[0].module.encoder.named_parameters():
            if "attention.output.dense" in name or "position_embeddings" in name:
                parameter.zero_()
    return model


def gradients_of(model, docs, weights):
    _, backprop = model.begin_update(docs)
    backprop(weights)
    module = model.shims[0].module
    gradients = {name: parameter.grad.clone() for name, parameter in module.named_parameters() if len(parameter)}
    module.zero_grad(set_to_none=True)
    return gradients


def random_like(arrays):
    rng = np.random.default_rng(1)
    return [rng.normal(size=array.shape).astype("f4") for array in arrays]


def test_every_token_has_a_vector():
    model = make_model()
    docs = [NLP.make_doc(text) for text in (TEXT, "", "市", "  \n", "我 在\u3000南京", "𠮷👩‍💻\x00\u200d")]
    vectors = model.predict(docs)
    assert [array.shape for array in vectors] == [(len(doc), 16) for doc in docs]
    assert all(array.dtype == np.float32 and np.isfinite(array).all() for array in vectors)
    assert model.get_dim("nO") == 16


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_batches_without_tokens(texts):
    model, docs = make_model(), [NLP.make_doc(text) for text in texts]
    vectors, backprop = model.begin_update(docs)
    assert [array.shape for array in vectors] == [(0, 16)] * len(texts)
    assert backprop(vectors) == []
    assert [array.shape for array in model.predict(docs)] == [(0, 16)] * len(texts)


def test_words_matter_and_only_to_their_tokens():
    model = without_context(strengthen(make_model()))
    doc = NLP.make_doc("南京在大河")
    with_words = model.predict([doc])[0]
    without_words = link(model, make_lexicon(["河水"])).predict([doc])[0]
    changed = moved(with_words, without_words, N_TERMS).any(axis=1)
    assert changed.tolist() == [True, True, False, False, False]


def test_an_empty_lexicon_and_no_adapter():
    assert make_model(make_lexicon([])).predict([NLP.make_doc(TEXT)])[0].shape == (10, 16)
    model = make_model(adapter_layers=())
    assert model.layers == [] and model.predict([NLP.make_doc(TEXT)])[0].shape == (10, 16)


@pytest.mark.parametrize("max_batch_tokens", [1, 20, 10_000])
def test_company_and_batch_size_change_nothing(max_batch_tokens):
    model = strengthen(make_model(options={"max_batch_tokens": max_batch_tokens}))
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
        model = strengthen(make_model(options={"max_batch_tokens": max_batch_tokens}))
        found.append(gradients_of(model, docs, random_like(model.predict(docs))))
    assert_all_close(found[1], found[0], 2 * N_TERMS)  # forward and backward


def test_gradients_of_tokens_with_several_pieces():
    """By finite differences, through the mean over the pieces of a token."""
    doc = Doc(NLP.vocab, words=["南京市", "长", "abc"], spaces=[False, True, False])
    model = make_model(texts=["南京市长abc"])
    weights = random_like(model.predict([doc]))
    table = model.shims[0].module.encoder.embeddings.word_embeddings.weight
    gradient = gradients_of(model, [doc], weights)["encoder.embeddings.word_embeddings.weight"]
    row = int(gradient.abs().sum(dim=1).argmax())
    column = int(gradient[row].abs().argmax())
    start = float(table.detach()[row, column])

    def loss(step):
        with torch.no_grad():
            table[row, column] = start + step
        return float((model.predict([doc])[0] * weights[0]).sum())

    assert float(gradient[row, column]) == slope(loss, 1e-3, N_TERMS)


WINDOW, STRIDE = 16, 8


@pytest.mark.parametrize("length", [WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW, 3 * WINDOW + 5])
def test_windows_give_each_token_the_vector_of_the_whole(length):
    """Without context across windows nothing may change: each token, word and gradient is in its place."""
    docs = [NLP.make_doc((TEXT * 9)[:length]), NLP.make_doc("南京"), NLP.make_doc((TEXT * 9)[3 : length + 3])]
    whole = without_context(strengthen(make_model()))
    cut = without_context(strengthen(make_model(options={"window": WINDOW, "stride": STRIDE, "max_batch_tokens": 40})))
    expected = whole.predict(docs)
    for vectors, others in zip(cut.predict(docs), expected):
        assert_close(vectors, others, N_TERMS)
    weights = random_like(expected)
    gradients, others = gradients_of(cut, docs, weights), gradients_of(whole, docs, weights)
    for name in ("adapters.0.attention", "adapters.0.word_in.weight", "words.by_length"):
        assert_close(gradients[name], others[name], 2 * N_TERMS)


@pytest.mark.parametrize("length", [509, 510, 511, 1530])
def test_docs_around_the_limit_of_the_encoder(length):
    model = make_model()
    doc = NLP.make_doc((TEXT * 200)[:length])
    vectors = model.predict([doc])[0]
    assert vectors.shape == (length, 16) and np.isfinite(vectors).all()
    if length > 510:  # the first window is as if the text ended there; beyond the middle of the overlap comes the next
        first = model.predict([NLP.make_doc(doc.text[:510])])[0]
        taken = ~moved(vectors[:510], first, 2 * 512).any(axis=1)  # layers, and the wordpieces of a window
        assert taken[: 382 + (510 - 382) // 2 if length == 1530 else 255].all() and not taken[-1]


def test_a_token_of_more_pieces_than_a_window():
    text = "南-" * 40
    doc = Doc(NLP.vocab, words=["京", text, "市"])
    model = without_context(strengthen(make_model(texts=[text + "京市"], options={"window": 8})))
    vectors = model.predict([doc])[0]
    single = model.predict([Doc(NLP.vocab, words=["南", "-"])])[0]
    assert vectors.shape == (3, 16)
    assert_close(vectors[1], single.mean(axis=0), N_TERMS)


def test_words_cut_by_the_edge_of_a_window_stay_out():
    """Windows of 4 without overlap over 南京市长|江大桥在: 长江 is cut, 大桥 is not."""
    options = {"window": 4, "stride": 4}
    model = without_context(strengthen(make_model(make_lexicon(["长江", "大桥"]), options=options)))
    doc = NLP.make_doc("南京市长江大桥在")
    with_words = model.predict([doc])[0]
    without_words = link(model, make_lexicon(["河水"])).predict([doc])[0]
    changed = moved(with_words, without_words, N_TERMS).any(axis=1)
    assert changed.tolist() == [False] * 5 + [True, True, False]


def test_windows_that_do_not_fit_the_encoder():
    with pytest.raises(ValueError, match=r"window = 511 .* the encoder has 512 positions, so a window has at most 510"):
        make_model(options={"window": 511})
    with pytest.raises(ValueError, match="stride = 9 is out of range: windows of 8"):
        make_model(options={"window": 8, "stride": 9})
    for name in ("max_words", "window", "stride", "max_batch_tokens"):
        with pytest.raises(ValueError, match=f"{name} = 0 is out of range"):
            build_lebert_v1(**{name: 0})


def test_words_without_vectors():
    model = without_context(strengthen(make_model(make_lexicon(width=0), word_width=5)))
    assert model.shims[0].module.words.width == 5
    vectors = model.predict([NLP.make_doc("南京在江苏在江")])[0]
    assert moved(vectors[5], vectors[6], N_TERMS).any() or moved(vectors[3], vectors[6], N_TERMS).any()
    no_words = link(model, make_lexicon([], width=0)).predict([NLP.make_doc("南京在江苏在江")])[0]
    changed = moved(vectors, no_words, N_TERMS).any(axis=1)
    assert changed.tolist() == [True, True, False, True, True, False, False]


@pytest.mark.parametrize(("trained", "given"), [(6, 7), (6, 0), (0, 6)])
def test_a_lexicon_of_another_width_is_refused(trained, given):
    model = make_model(make_lexicon(width=trained))
    with pytest.raises(ValueError, match=rf"vectors of {given} dimensions, but the model was trained with {trained}"):
        link(model, make_lexicon(width=given)).predict([NLP.make_doc(TEXT)])
    assert link(model, make_lexicon([])).predict([NLP.make_doc(TEXT)])[0].shape == (10, 16)


def test_docs_keep_the_lexicon_that_matched_them():
    """A batch with two Docs, matched before and after the lexicon was replaced."""
    from spacy_lexner.candidates.storage import find_candidates, set_candidates

    model = without_context(strengthen(make_model()))
    source = model.layers[0].attrs["link"].source
    old, new = source.matcher, Matcher(make_lexicon(["大桥", "南京"], seed=5))
    docs = [NLP.make_doc("南京大桥"), NLP.make_doc("南京大桥")]
    before = model.predict([docs[0]])[0]
    source.set(new)
    after = model.predict([docs[1]])[0]
    assert moved(before, after, N_TERMS).any()
    for doc, matcher in zip(docs, (old, new)):
        set_candidates(doc, matcher.version, find_candidates(matcher, [doc])[0])
    for vectors, expected in zip(model.predict(docs), (before, after)):
        assert_close(vectors, expected, N_TERMS)


def test_fine_tuned_words():
    model = make_model(words="finetuned", texts=[TEXT, "南京"])
    table, lexicon = model.shims[0].module.words, model.layers[0].attrs["link"].source.matcher.lexicon
    hashes = table.tuned_hashes.numpy().view("u8")
    assert sorted(hashes.tolist()) == hashes.tolist() == sorted(lexicon.hash(word) for word in WORDS)
    np.testing.assert_array_equal(table.tuned.detach().numpy(), lexicon.vectors(hashes)[0])
    frozen = make_model(texts=[TEXT, "南京"])
    frozen.shims[0].module.load_state_dict(
        model.shims[0].module.state_dict()
        | {"words.tuned": torch.zeros(0, 6), "words.tuned_hashes": torch.zeros(0, dtype=torch.int64)}
    )
    docs = [NLP.make_doc("南京的大桥")]
    np.testing.assert_array_equal(model.predict(docs)[0], frozen.predict(docs)[0])
    start = table.tuned.detach().clone()
    vectors, backprop = model.begin_update(docs)
    backprop(random_like(vectors))
    model.finish_update(Adam(0.1))
    moved = [word for word in WORDS if word in ("南京", "大桥")]
    rows = np.searchsorted(hashes, sorted(lexicon.hash(word) for word in moved))
    changed = (table.tuned.detach() != start).any(dim=1).nonzero().flatten().tolist()
    assert changed == sorted(rows.tolist())


def test_fine_tuned_words_survive_another_order_of_the_lexicon_and_saving():
    model = strengthen(make_model(words="finetuned"))
    expected = model.predict([NLP.make_doc(TEXT)])[0]
    loaded = build_lebert_v1(**SIZES, words="finetuned").from_bytes(model.to_bytes())
    link(loaded, make_lexicon(WORDS[::-1], seed=9))
    assert_close(loaded.predict([NLP.make_doc(TEXT)])[0], expected, N_TERMS)


def test_save_and_load_without_any_file():
    model = strengthen(make_model())
    docs = [NLP.make_doc(TEXT), NLP.make_doc("abc")]
    loaded = link(build_lebert_v1(**SIZES).from_bytes(model.to_bytes()), make_lexicon())
    for ours, theirs in zip(model.predict(docs), loaded.predict(docs)):
        np.testing.assert_array_equal(ours, theirs)
    assert loaded.get_dim("nO") == 16
    assert loaded.shims[0].settings == model.shims[0].settings


def test_copies_share_the_lexicon_but_not_the_weights():
    model = strengthen(make_model())
    copied, doc = model.copy(), NLP.make_doc(TEXT)
    np.testing.assert_array_equal(model.predict([doc])[0], copied.predict([doc])[0])
    torch.nn.init.zeros_(copied.shims[0].module.adapters["0"].norm.weight)
    assert moved(model.predict([doc])[0], copied.predict([doc])[0], N_TERMS).any()
    assert copied.layers[0].attrs["link"].source is model.layers[0].attrs["link"].source


def test_an_uninitialised_model_says_so_and_can_be_saved():
    model = link(build_lebert_v1(**SIZES), make_lexicon())
    with pytest.raises(ValueError, match=r"has not been built yet: call nlp\.initialize"):
        model.predict([NLP.make_doc(TEXT)])
    loaded = build_lebert_v1(**SIZES).from_bytes(model.to_bytes())
    assert not loaded.shims[0].is_initialized


def test_a_second_initialisation_changes_nothing():
    model = make_model()
    before = model.predict([NLP.make_doc(TEXT)])[0]
    model.initialize(X=[NLP.make_doc("别的")])
    np.testing.assert_array_equal(model.predict([NLP.make_doc(TEXT)])[0], before)


def test_without_a_linked_lexicon():
    model = build_lebert_v1(**SIZES)
    with pytest.raises(ValueError, match=r"no lexicon is linked to it\. Add a `lex_matcher`"):
        model.initialize(X=[NLP.make_doc(TEXT)])


def test_threads_do_not_mix_up_their_words():
    model = strengthen(make_model())
    docs = [NLP.make_doc(text) for text in ("南京市长江大桥", "江苏的大桥", "市长在南京", "没有")]
    expected = [model.predict([doc])[0] for doc in docs]
    wrong = []

    def predict(doc, vectors):
        for _ in range(15):
            if moved(model.predict([doc])[0], vectors, N_TERMS).any():
                wrong.append(doc.text)

    threads = [threading.Thread(target=predict, args=pair) for pair in zip(docs, expected)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_gradient_checkpointing_changes_nothing_but_memory():
    docs = [NLP.make_doc(text) for text in (TEXT, "江苏", TEXT * 3)]
    options = {"max_batch_tokens": 20}
    plain, frugal = (strengthen(make_model(options=options, gradient_checkpointing=flag)) for flag in (False, True))
    weights = random_like(plain.predict(docs))
    expected, found = gradients_of(plain, docs, weights), gradients_of(frugal, docs, weights)
    assert_all_close(found, expected, 2 * N_TERMS)


@pytest.mark.parametrize("has_bfloat16", [True, False])
def test_mixed_precision_on_a_cpu(monkeypatch, has_bfloat16):
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: has_bfloat16, raising=False)
    saved, doc = strengthen(make_model()).to_bytes(), NLP.make_doc(TEXT)
    vectors = []
    for mixed_precision in (False, True):
        model = build_lebert_v1(**SIZES, mixed_precision=mixed_precision).from_bytes(saved)
        output, backprop = link(model, make_lexicon()).begin_update([doc])
        backprop([array.copy() for array in output])
        model.finish_update(Adam(0.001))
        vectors.append(model.predict([doc])[0])
    assert vectors[1].dtype == np.float32
    n_operations = 2 * 6  # layers; queries, scores, their mean and its projection, two of the feed-forward part
    assert_close(vectors[1], vectors[0], n_operations, "bfloat16")
    assert moved(*vectors, N_TERMS).any() == has_bfloat16


@pytest.mark.gpu
def test_on_a_gpu():
    from thinc.api import require_gpu, to_numpy, use_ops

    expected = strengthen(make_model()).predict([NLP.make_doc(TEXT)])[0]
    saved = strengthen(make_model()).to_bytes()
    with use_ops("cupy"):
        require_gpu()
        model = link(build_lebert_v1(**SIZES).from_bytes(saved), make_lexicon())
        vectors, backprop = model.begin_update([NLP.make_doc(TEXT), NLP.make_doc("")])
        assert_close(to_numpy(vectors[0]), expected, N_TERMS)
        backprop(vectors)
        model.finish_update(Adam(0.001))
