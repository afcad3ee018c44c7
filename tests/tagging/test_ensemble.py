import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.util import registry
from spacy.vocab import Vocab
from tagging import SCHEME, legal_paths, path_scores, random_outputs
from thinc.api import SGD, Model
from tolerance import assert_close, moved

from spacy_lexner.tagging.ensemble import (
    build_ensemble_tagger_v1,
    build_mixed_ensemble_tagger_v1,
    copy_tagger,
    ensemble,
)
from spacy_lexner.tagging.heads import CRFHead
from spacy_lexner.tagging.ncrf.head import NCRFHead
from spacy_lexner.tagging.spans.tag_scheme import TagScheme
from spacy_lexner.tagging.tagger import tagger, tagger_output

LENGTHS = [3, 0, 2]
ENCODER = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "width": 8,
    "depth": 1,
    "embed_size": 50,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
    "pretrained_vectors": None,
}


def docs(*lengths):
    return [Doc(Vocab(), ["字"] * n) for n in lengths]


def vectors(model, docs, is_train):
    rng = np.random.default_rng(0)
    return [rng.normal(size=(len(doc), 4)).astype("float32") for doc in docs], lambda d_vectors: d_vectors


def make(n_members):
    members = [tagger(Model("vectors", vectors, dims={"nO": 4}), tagger_output(), CRFHead()) for _ in range(n_members)]
    model = ensemble(members)
    model.initialize(X=docs(*LENGTHS), Y=random_outputs(0, LENGTHS))
    for number, member in enumerate(members):
        member.get_ref("output_layer").set_param("transitions", random_outputs(number, [])[1])
    return model


def weights(model):
    return [member.get_ref("output_layer").get_param("emission_W").copy() for member in model.layers]


def test_members_differ_and_their_scores_are_averaged():
    model = make(3)
    outputs = [member.predict(docs(*LENGTHS)) for member in model.layers]
    emissions, transitions = model.predict(docs(*LENGTHS))
    assert [rows.shape for rows in emissions] == [(n, SCHEME.n_tags) for n in LENGTHS]
    for doc, rows in enumerate(emissions):
        assert_close(rows, np.mean([own[0][doc] for own in outputs], axis=0), n_terms=6)
    assert_close(transitions, np.mean([own[1] for own in outputs], axis=0), n_terms=6)
    assert moved(outputs[0][0][0], outputs[1][0][0], n_terms=6).any()


def test_a_path_has_the_geometric_mean_of_the_members_probabilities():
    model, paths = make(3), list(legal_paths(3))

    def log_probabilities(tagger):
        (rows,), transitions = tagger.predict(docs(3))
        scores = path_scores(rows, transitions, paths)
        return scores - np.logaddexp.reduce(scores)

    pool = np.mean([log_probabilities(member) for member in model.layers], axis=0)
    assert_close(log_probabilities(model), pool - np.logaddexp.reduce(pool), n_terms=6)


def test_one_member_is_that_member():
    model = make(1)
    for ours, own in zip(model.predict(docs(3))[0], model.layers[0].predict(docs(3))[0]):
        np.testing.assert_array_equal(ours, own)


def test_members_learn_in_turn():
    model, optimizer = make(3), SGD(0.1)
    for turn in range(7):
        before = weights(model)
        outputs, backprop = model.begin_update(docs(*LENGTHS))
        np.testing.assert_array_equal(outputs[0][0], model.layers[turn % 3].predict(docs(*LENGTHS))[0][0])
        backprop(outputs)
        model.finish_update(optimizer)
        changed = [not np.array_equal(old, new) for old, new in zip(before, weights(model))]
        assert changed == [number == turn % 3 for number in range(3)]


def test_a_prediction_has_no_gradient():
    outputs, backprop = make(2)(docs(3), is_train=False)
    with pytest.raises(ValueError, match="no gradient where it predicts"):
        backprop(outputs)


def test_new_tags_are_new_to_every_member():
    model, n_tags = make(2), TagScheme([*SCHEME.labels, "ORG"]).n_tags
    before = model.predict(docs(3))
    model.attrs["resize_output"](model, n_tags)
    assert model.get_ref("output_layer").get_dim("nO") == n_tags
    (rows,), transitions = model.predict(docs(3))
    assert rows.shape == (3, n_tags) and transitions.shape == (n_tags + 1, n_tags + 1)
    assert_close(rows[:, : SCHEME.n_tags], before[0][0], n_terms=6)


def test_bytes():
    model = make(2)
    model.begin_update(docs(3))
    again = make(2).from_bytes(model.to_bytes())
    np.testing.assert_array_equal(again.predict(docs(3))[0][0], model.predict(docs(3))[0][0])
    assert again.attrs["turn"] == 1


def test_no_member():
    with pytest.raises(ValueError, match="at least one member"):
        ensemble([])


def test_scores_are_of_the_same_tags():
    members = [
        tagger(Model("vectors", vectors, dims={"nO": 4}), tagger_output(), head)
        for head in (CRFHead(), NCRFHead("sum", ("O", "B-PER", "I-PER")))
    ]
    with pytest.raises(ValueError, match="those of its labels, another O, B-PER, I-PER"):
        ensemble(members)


class Counter:
    """An attribute that two nodes share."""


def node(name, layers=(), refs=None, **attrs):
    return Model(name, lambda model, X, is_train: (X, lambda dY: dY), layers=list(layers), refs=refs or {}, attrs=attrs)


def make_nodes():
    counter = Counter()
    leaf = node("leaf", counter=counter, width=3)
    twice = node("twice", [leaf], {"leaf": leaf, "nothing": None}, counter=counter)
    return node("root", [twice, leaf], {"twice": twice, "leaf": leaf}, width=3)


def test_references_and_shared_attributes_are_those_of_the_copy():
    model = make_nodes()
    copied = copy_tagger(model)
    assert [each.name for each in copied.walk()] == [each.name for each in model.walk()]
    assert not {each.id for each in copied.walk()} & {each.id for each in model.walk()}
    twice, leaf = copied.layers
    assert copied.get_ref("twice") is twice and copied.get_ref("leaf") is leaf is twice.layers[0]
    assert twice.get_ref("leaf") is leaf and twice.maybe_get_ref("nothing") is None and twice.has_ref("nothing") is None
    assert twice.attrs["counter"] is leaf.attrs["counter"]
    assert twice.attrs["counter"] is not model.layers[1].attrs["counter"]
    assert copied.attrs["width"] == leaf.attrs["width"] == 3


def test_parameters_are_copied():
    model = Model("linear", lambda model, X, is_train: (X, lambda dY: dY), params={"W": np.ones(2, "f"), "b": None})
    copied = copy_tagger(model)
    copied.get_param("W")[:] = 2
    assert model.get_param("W").tolist() == [1, 1] and not copied.has_param("b")


def build_ensemble(tok2vec=ENCODER, **settings):
    member = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": tok2vec, "normalization": "token"}
    model = {"@architectures": "spacy-lexner.EnsembleTagger.v1", "member": member, **settings}
    return registry.resolve({"model": model})["model"]


def test_registered_and_made_of_members_that_share_nothing():
    assert registry.architectures.get("spacy-lexner.EnsembleTagger.v1") is build_ensemble_tagger_v1
    mixed = registry.architectures.get("spacy-lexner.MixedEnsembleTagger.v1")
    assert mixed is build_mixed_ensemble_tagger_v1
    assert len(build_ensemble().layers) == 5
    model = build_ensemble(n_members=3)
    assert model.attrs["head"] == CRFHead("token")
    assert len({node.id for node in model.walk()}) == 3 * len(list(model.layers[0].walk())) + 1


def test_no_shared_encoder():
    with pytest.raises(ValueError, match="listens to a shared encoder"):
        build_ensemble({"@architectures": "spacy.Tok2VecListener.v1", "width": 8})


def test_an_ensemble_has_members():
    with pytest.raises(ValueError, match="n_members is 0; expected at least 1"):
        build_ensemble(n_members=0)
