import copy

import numpy as np
import pytest
import srsly
from spacy.tokens import Doc
from spacy.vocab import Vocab
from tagging import SCHEME, free, random_outputs
from thinc.api import Adam, Model, get_current_ops, set_dropout_rate
from tolerance import moved, slope

from spacy_lexner.tagging.heads import CRFHead, SoftmaxHead
from spacy_lexner.tagging.spans.tag_scheme import TagScheme
from spacy_lexner.tagging.tagger import tagger, tagger_output

WIDTH = 4


def forward_vectors(model, docs, is_train):
    rng = np.random.default_rng(0)
    return [rng.normal(size=(len(doc), WIDTH)).astype("float32") for doc in docs], lambda d_vectors: d_vectors


def encoder(**dims):
    return Model("vectors", forward_vectors, dims=dims)


def docs(*lengths):
    vocab = Vocab()
    return [Doc(vocab, ["字"] * n) for n in lengths]


def sample(lengths, n_tags=SCHEME.n_tags):
    return [np.zeros((n, n_tags), "f") for n in lengths], np.zeros((n_tags + 1, n_tags + 1), "f")


def trained(head=None, transitions=True, lengths=(3, 0, 5)):
    """A tagger whose parameters are random."""
    model = tagger(encoder(nO=WIDTH), tagger_output(transitions=transitions), head or CRFHead())
    model.initialize(X=docs(*lengths), Y=sample(lengths))
    output, rng = model.get_ref("output_layer"), np.random.default_rng(1)
    for name in output.param_names:
        output.set_param(name, 2 * rng.normal(size=output.get_param(name).shape).astype("float32"))
    return model


@pytest.mark.parametrize("dims", [{"nO": WIDTH}, {"nO": None}, {}])
def test_shapes_and_width(dims):
    model = tagger(encoder(**dims), tagger_output(), CRFHead())
    model.initialize(X=docs(3, 0, 5), Y=sample([3, 0, 5]))
    emissions, transitions = model.predict(docs(3, 0, 5))
    assert [e.shape for e in emissions] == [(3, 9), (0, 9), (5, 9)]
    assert transitions.shape == (10, 10) and not transitions.any()


def test_transitions_are_parameters_if_learned():
    assert set(trained().get_ref("output_layer").param_names) == {"emission_W", "emission_b", "transitions"}
    model = trained(SoftmaxHead(), transitions=False)
    assert set(model.get_ref("output_layer").param_names) == {"emission_W", "emission_b"}
    assert not model.predict(docs(2))[1].any()


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_gradient_of_the_output_layer(rate):
    layer = trained().get_ref("output_layer")
    set_dropout_rate(layer, rate)
    vectors = forward_vectors(None, docs(3, 0, 2), True)[0]
    d_emissions, d_transitions = random_outputs(2, [3, 0, 2])

    def value(vectors):
        np.random.seed(0)
        (emissions, transitions), backprop = layer(vectors, True)
        total = sum((e * d).sum() for e, d in zip(emissions, d_emissions)) + (transitions * d_transitions).sum()
        return total, backprop

    d_vectors = value(vectors)[1]((d_emissions, d_transitions))
    for array, gradient in [
        *zip(vectors, d_vectors),
        *((layer.get_param(name), layer.get_grad(name)) for name in layer.param_names),
    ]:
        for i in np.ndindex(array.shape):
            kept = array[i]

            def at(step, array=array, i=i, kept=kept):
                array[i] = kept + step
                return value(vectors)[0]

            n_terms = WIDTH + 5 * SCHEME.n_tags + (SCHEME.n_tags + 1) ** 2
            assert gradient[i] == slope(at, 0.5, n_terms)
            array[i] = kept


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_a_listener_gives_no_width_for_an_empty_text(rate):
    output = trained().get_ref("output_layer")
    set_dropout_rate(output, rate)
    rows = [np.ones((3, WIDTH), "f"), np.zeros((0, 0), "f")]
    (emissions, transitions), backprop = output.begin_update(rows)
    assert [part.shape for part in emissions] == [(3, 9), (0, 9)]
    assert [part.shape for part in backprop((emissions, transitions))] == [(3, WIDTH), (0, WIDTH)]


def test_dropout_of_its_own_is_not_that_of_training():
    ops = get_current_ops()
    vectors = [ops.alloc2f(50, WIDTH) + 1]
    for own, training, drops in ((None, 0.0, False), (None, 0.5, True), (0.5, 0.0, True), (0.0, 0.5, False)):
        model = tagger(encoder(nO=WIDTH), tagger_output(dropout=own), CRFHead())
        model.initialize(X=docs(1), Y=sample([1]))
        set_dropout_rate(model, training)
        layer = model.get_ref("output_layer")
        for is_train, differ in ((True, drops), (False, False)):
            rows = layer(vectors, is_train)[0][0][0]
            assert moved(rows, np.broadcast_to(rows[0], rows.shape), WIDTH).any() == differ


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_bad_dropout(rate):
    with pytest.raises(ValueError, match=f"dropout is {rate}; expected 0 <= dropout < 1"):
        tagger_output(dropout=rate)


def test_wrong_number_of_tags():
    model = tagger(encoder(nO=WIDTH), tagger_output(nO=7), CRFHead())
    with pytest.raises(ValueError, match=r"built for nO = 7 tags, but the labels need 9.*Leave nO null"):
        model.initialize(X=docs(3), Y=sample([3]))


def test_bytes_before_and_after_initialization():
    blank = tagger(encoder(nO=WIDTH), tagger_output(), CRFHead("token"))
    tagger(encoder(nO=WIDTH), tagger_output(), CRFHead("token")).from_bytes(blank.to_bytes())
    model = trained(CRFHead("token"))
    again = tagger(encoder(nO=WIDTH), tagger_output(), CRFHead("token")).from_bytes(model.to_bytes())
    assert again.attrs["head"] == CRFHead("token") and callable(again.attrs["resize_output"])
    for before, after in zip(model.predict(docs(3))[0], again.predict(docs(3))[0]):
        np.testing.assert_array_equal(before, after)
    assert "head" not in srsly.msgpack_loads(model.to_bytes())["attrs"][0]


@pytest.mark.parametrize("copied", [copy.deepcopy, Model.copy])
def test_copies_stand_alone(copied):
    model = trained()
    twin = copied(model)
    assert twin.attrs["head"] == model.attrs["head"]
    before = twin.predict(docs(4))[0][0].copy()
    model.layers[1].get_param("emission_W")[:] = 0
    np.testing.assert_array_equal(twin.predict(docs(4))[0][0], before)


@pytest.mark.parametrize("learned", [True, False])
def test_a_new_label_changes_no_prediction(learned):
    lengths = [40, 0, 25, 1]
    model = trained(None if learned else SoftmaxHead(), learned)
    head = model.attrs["head"]
    before = head.search(model.predict(docs(*lengths)), free(lengths)).best()
    wider = TagScheme([*SCHEME.labels, "ORG"])
    model.attrs["resize_output"](model, wider.n_tags)
    outputs = model.predict(docs(*lengths))
    allowed = [wider.constraint(np.zeros(n, dtype=bool)) for n in lengths]
    assert [p.tolist() for p in head.search(outputs, allowed).best()] == [p.tolist() for p in before]
    assert any((path > 0).any() for path in before)


def test_a_new_label_can_be_learned_with_the_same_optimizer():
    model, optimizer, texts = trained(), Adam(0.05), docs(6)

    def update(scheme, biluo):
        outputs, backprop = model.begin_update(texts)
        allowed = [scheme.constraint(np.zeros(6, dtype=bool))]
        loss, d_outputs = model.attrs["head"].loss(outputs, allowed, [scheme.gold(biluo)], [[]])
        backprop(d_outputs)
        model.finish_update(optimizer)
        return loss

    update(SCHEME, ["O", "O", "B-PER", "L-PER", "O", "O"])
    wider = TagScheme([*SCHEME.labels, "ORG"])
    model.attrs["resize_output"](model, wider.n_tags)
    losses = [update(wider, ["O", "O", "B-ORG", "L-ORG", "O", "U-PER"]) for _ in range(80)]
    assert losses[-1] < 0.1 < losses[0]


def test_no_shrinking():
    with pytest.raises(ValueError, match="has 9 tags; it cannot shrink to 5"):
        model = trained()
        model.attrs["resize_output"](model, 5)
