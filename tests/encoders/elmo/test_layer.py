"""The encoder as a layer: Docs of any length and kind in, one vector per token out."""

import threading

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from thinc.api import Adam
from tolerance import assert_close, moved, near, slope

from spacy_lexner.candidates.training_texts import show_training_docs
from spacy_lexner.encoders.elmo.architecture import build_elmo_v1
from spacy_lexner.encoders.shared.shim import shim_of

TEXT = "南京市长江大桥在江苏"
NLP = spacy.blank("zh")
SMALL = {"embedding_dim": 6, "filters": ((1, 4), (2, 4)), "projection_dim": 6, "cell_dim": 8}
STEP = 2 * (6 + 6 + 8)  # lengths of the sums of a time step, in two layers


def make_model(texts=(TEXT,), **options):
    torch.manual_seed(0)
    model = build_elmo_v1(**{**SMALL, "dropout": 0.0, "lstm_dropout": 0.0, **options})
    docs = [NLP.make_doc(text) for text in texts]
    show_training_docs(model, docs)
    model.initialize(X=docs)
    for parameter in shim_of(model).module.parameters():  # larger weights, so that differences show
        if parameter.dim() > 1:
            parameter.data.mul_(3)
    return model


def test_every_token_has_a_vector():
    model = make_model()
    texts = (TEXT, "", "市", "  \n", "我 在\u3000南京", "𠮷👩‍💻\x00\u200d", "Ω" * 30)
    docs = [NLP.make_doc(text) for text in texts]
    docs.append(Doc(NLP.vocab, words=["长" * 10_000, " ", "\n\n", "a" * 10_000]))
    vectors = model.predict(docs)
    assert [array.shape for array in vectors] == [(len(doc), 12) for doc in docs]
    assert all(array.dtype == np.float32 and np.isfinite(array).all() for array in vectors)
    assert model.get_dim("nO") == 12


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_batches_without_tokens(texts):
    model, docs = make_model(), [NLP.make_doc(text) for text in texts]
    vectors, backprop = model.begin_update(docs)
    assert [array.shape for array in vectors] == [(0, 12)] * len(texts)
    assert backprop(vectors) == []
    assert [array.shape for array in model.predict(docs)] == [(0, 12)] * len(texts)


@pytest.mark.parametrize("options", [{}, {"unit": "byte"}, {"cell_clip": 0, "projection_clip": 0}])
def test_company_changes_nothing(options):
    model = make_model(**options)
    docs = [NLP.make_doc(text) for text in (TEXT, "", "江苏", TEXT * 3, "南京市", "大桥" * 5)]
    together = model.predict(docs)
    trained, _ = model.begin_update(docs)
    for doc, vectors, in_training in zip(docs, together, trained):
        assert_close(model.predict([doc])[0], vectors, STEP * len(doc))
        assert_close(in_training, vectors, STEP * len(doc))


@pytest.mark.parametrize("norm", [None, "token", "batch"])
@pytest.mark.parametrize("freeze", [False, True])
def test_blocks_change_nothing(norm, freeze):
    """A long Doc is read in blocks that carry the state over: values and gradients are the same as in one piece."""
    docs = [NLP.make_doc(text) for text in (TEXT * 20, "江苏", TEXT)]
    results = []
    for block_rows in (1, 7, 100_000):
        model = make_model(mix_norm=norm, freeze=freeze, block_rows=block_rows)
        predicted = model.predict(docs)
        vectors, backprop = model.begin_update(docs)
        backprop([np.sin(array).astype("f4") for array in vectors])
        gradients = [p.grad.numpy() for p in shim_of(model).module.parameters() if p.grad is not None]
        results.append([*predicted, *vectors, *gradients])
    assert len(results[0]) == 6 + (2 if freeze else len(list(shim_of(model).module.parameters())))
    for values in results[:2]:
        for value, expected in zip(values, results[2]):
            assert_close(value, expected, 2 * STEP * len(docs[0]))  # forward and backward


def test_dropout_is_drawn_alike_when_a_block_is_computed_again():
    """In training, blocks are computed twice; the second pass must use the dropout of the first."""
    docs = [NLP.make_doc(TEXT * 5)]
    model = make_model(block_rows=8, lstm_dropout=0.5)
    module = shim_of(model).module
    torch.manual_seed(2)
    vectors, backprop = model.begin_update(docs)
    backprop([np.ones_like(array) for array in vectors])
    gradient = module.mixes[0].scalars.grad.clone()
    bias = module.bilm.layers[0].bias
    start = float(bias.detach()[0, 3])

    def total(step):
        with torch.no_grad():
            bias[0, 3] = start + step
        torch.manual_seed(2)
        return sum(float(array.astype("f8").sum()) for array in model.begin_update(docs)[0])

    assert float(bias.grad[0, 3]) == slope(total, 1e-3, STEP)
    assert gradient.abs().sum() > 0


def test_words_are_read_in_their_context():
    model = make_model()
    first, second = model.predict([NLP.make_doc("南京市长"), NLP.make_doc("北京市长")])
    assert moved(first[2], second[2], STEP * 4).any()
    forward, backward = first[0][:6], second[0][:6]
    assert moved(forward, backward, STEP * 4).any()
    # The right context does not reach the forward half.
    left, right = model.predict([NLP.make_doc("南京市"), NLP.make_doc("南京江")])
    assert_close(left[:2, :6], right[:2, :6], STEP * 2)
    assert moved(left[:2, 6:], right[:2, 6:], STEP * 2).any()


def test_distinct_words_are_embedded_once(monkeypatch):
    model = make_model()
    seen = []
    cnn = shim_of(model).module.characters
    handle = cnn.register_forward_hook(lambda module, inputs, output: seen.append(len(output)))
    model.predict([NLP.make_doc("南京南京"), NLP.make_doc("京市")])
    handle.remove()
    assert seen == [2 + 3]  # begin, end, 南, 京, 市


def test_frozen_trains_the_mix_alone():
    model = make_model(freeze=True)
    docs = [NLP.make_doc(TEXT)]
    before = {name: value.clone() for name, value in shim_of(model).module.state_dict().items()}
    vectors, backprop = model.begin_update(docs)
    backprop([np.ones_like(array) for array in vectors])
    model.finish_update(Adam(0.1))
    after = shim_of(model).module.state_dict()
    changed = {name for name, value in before.items() if not torch.equal(value, after[name])}
    assert changed == {"mixes.0.scalars", "mixes.0.gamma"}


def test_nothing_to_train():
    model = make_model(freeze=True, mix_weights=(0.0, 1.0, 0.0))
    vectors, backprop = model.begin_update([NLP.make_doc(TEXT)])
    assert backprop(vectors) == []
    model.finish_update(Adam(0.1))


def test_gradients_of_token_rows_alone():
    """Begin and end of a sentence have no gradient of their own; the layer's is that of its tokens."""
    model = make_model()
    docs = [NLP.make_doc(TEXT), NLP.make_doc(""), NLP.make_doc("江苏")]
    weights = [np.random.default_rng(i).normal(size=(len(doc), 12)).astype("f4") for i, doc in enumerate(docs)]
    _, backprop = model.begin_update(docs)
    backprop(weights)
    gamma = shim_of(model).module.mixes[0].gamma
    expected = sum(float((array * weight).sum()) for array, weight in zip(model.predict(docs), weights))
    total = sum(np.abs(array * weight).sum() for array, weight in zip(model.predict(docs), weights))
    assert float(gamma.grad) == near(expected, STEP * len(TEXT), total)


def test_round_trip_without_the_texts():
    mixes = {"n_mixes": 2, "mix_layers": (1, 2)}
    model = make_model(**mixes)
    loaded = build_elmo_v1(**SMALL, **mixes).from_bytes(model.to_bytes())
    docs = [NLP.make_doc(TEXT + "北")]
    np.testing.assert_array_equal(loaded.predict(docs)[0], model.predict(docs)[0])
    assert loaded.get_dim("nO") == 24


def test_options_are_those_of_the_config_not_of_the_weights():
    """Pretrained weights may be frozen, with dropout and runtime settings from the training config."""
    pretrained = make_model(freeze=False, dropout=0.5, lstm_dropout=0.5, block_rows=7)
    loaded = build_elmo_v1(**SMALL, dropout=0.0, lstm_dropout=0.0, freeze=True).from_bytes(pretrained.to_bytes())
    docs = [NLP.make_doc(TEXT)]
    vectors, backprop = loaded.begin_update(docs)
    assert_close(vectors[0], pretrained.predict(docs)[0], STEP * len(TEXT))
    backprop(vectors)
    assert shim_of(loaded).module.bilm.layers[0].bias.grad is None


@pytest.mark.parametrize(
    "name, value", [("cell_dim", 9), ("n_layers", 1), ("mix_layers", (2,)), ("unit", "byte"), ("filters", ((1, 8),))]
)
def test_weights_of_other_sizes_than_the_config_s(name, value):
    pretrained = make_model()
    loaded = build_elmo_v1(**{**SMALL, name: value}).from_bytes(pretrained.to_bytes())
    with pytest.raises(ValueError, match=f"{name} = .* does not agree with the weights that were loaded"):
        loaded.predict([NLP.make_doc(TEXT)])


@pytest.mark.parametrize("name, value", [("dropout", 1.0), ("lstm_dropout", -0.1), ("block_rows", 0)])
def test_wrong_options(name, value):
    with pytest.raises(ValueError, match=f"{name} = {value} is out of range"):
        build_elmo_v1(**{name: value})


def test_stateful_depends_on_the_call_before():
    docs = [NLP.make_doc(TEXT)]
    first, second = (make_model(stateful=True) for _ in range(2))
    fresh = first.predict(docs)[0]
    assert moved(first.predict(docs)[0], fresh, STEP * len(TEXT)).any()
    stateless = make_model()
    np.testing.assert_array_equal(stateless.predict(docs)[0], stateless.predict(docs)[0])
    np.testing.assert_array_equal(stateless.predict(docs)[0], second.predict(docs)[0])


def test_not_initialized():
    with pytest.raises(ValueError, match=r"nlp.initialize"):
        build_elmo_v1().predict([NLP.make_doc(TEXT)])


def test_threads_predict_side_by_side():
    model = make_model()
    docs = [NLP.make_doc(TEXT * n) for n in range(1, 5)]
    expected = model.predict(docs)
    results = {}

    def run(number):
        results[number] = [model.predict([doc])[0] for doc in docs]

    threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for arrays in results.values():
        for array, values in zip(arrays, expected):
            assert_close(array, values, STEP * len(values))
