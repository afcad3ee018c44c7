import numpy as np
from thinc.api import Model

from spacy_lexner.tagging.model_copy import copy_model


class Counter:
    """An attribute that two nodes share."""


def node(name, layers=(), refs=None, **attrs):
    return Model(name, lambda model, X, is_train: (X, lambda dY: dY), layers=list(layers), refs=refs or {}, attrs=attrs)


def make():
    counter = Counter()
    leaf = node("leaf", counter=counter, width=3)
    twice = node("twice", [leaf], {"leaf": leaf, "nothing": None}, counter=counter)
    return node("root", [twice, leaf], {"twice": twice, "leaf": leaf}, width=3)


def test_references_and_shared_attributes_are_those_of_the_copy():
    model = make()
    copied = copy_model(model)
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
    copied = copy_model(model)
    copied.get_param("W")[:] = 2
    assert model.get_param("W").tolist() == [1, 1] and not copied.has_param("b")
