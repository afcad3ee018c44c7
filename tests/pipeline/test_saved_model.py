import numpy as np
import pytest
import srsly
from small_encoders import make_pipeline
from thinc.api import HashEmbed, Linear, Maxout, Model, chain

from spacy_lexner.pipeline.saved_model import load_model

BAD = [np.full((2, 3), "", "U1"), np.zeros((2, 3)), np.zeros((2, 3), "i4"), float("inf"), b"", [], [[1.0] * 3] * 2]


def build(nI=3, **attrs):
    layer = chain(Linear(2, nI), Linear(4, 2))
    layer.attrs.update(attrs)
    return layer


@pytest.fixture
def message():
    """The message of an initialised model: nodes are the chain and two linear layers."""
    return srsly.msgpack_loads(build(column=0, dropout_rate=0.1, mode="a", other=None).initialize().to_bytes())


def load(message):
    model = build(column=0, dropout_rate=0.2, mode="b", other=None)
    load_model(model, srsly.msgpack_dumps(message))
    return model


def test_what_was_saved_is_loaded(message):
    model = load(message)
    assert model.to_bytes() == srsly.msgpack_dumps(message)
    message["nodes"][1]["name"] = "of another version"
    assert load(message).layers[0].name == "linear"


@pytest.mark.parametrize("value", BAD)
def test_parameters_of_another_kind(message, value):
    message["params"][1]["W"] = value
    with pytest.raises(ValueError, match=r"part 1 of the model, linear: the parameter W is of type .* float32"):
        load(message)


@pytest.mark.parametrize("shape", [(3, 2), (1, 3), (2, 1), (), (6,), (2, 3, 1), (0, 3)])
def test_parameters_of_another_shape(message, shape):
    message["params"][1]["W"] = np.zeros(shape, "f4")
    with pytest.raises(ValueError, match=r"linear: the parameter W has shape .*expected .nO, nI. of"):
        load(message)


def test_parameters_that_are_not_finite(message):
    for value in (np.nan, np.inf):
        message["params"][2]["b"] = np.full(4, value, "f4")
        with pytest.raises(ValueError, match="part 2 of the model, linear: the parameter b has values that are not"):
            load(message)


def test_parameters_that_are_missing_or_unknown(message):
    with pytest.raises(ValueError, match="the parameter 'X' is not known"):
        load({**message, "params": [{}, {"X": np.zeros(1, "f4")}, {}]})
    message["params"][2]["b"] = None
    with pytest.raises(ValueError, match="weights of the part linear are missing, but others are present"):
        load(message)
    load_model(build(), build().to_bytes())  # not initialised


@pytest.mark.parametrize("name", ["nO", "nX", ""])
@pytest.mark.parametrize("size", ["2", -2, 2.0, True, [], 2**63])
def test_dimensions(message, name, size):
    message["nodes"][1]["dims"][name] = size
    with pytest.raises(ValueError, match=f"the dimension '{name}' is "):
        load(message)


def test_references():
    model = build()
    model.set_ref("first", model.layers[0])
    message = srsly.msgpack_loads(model.to_bytes())
    load_model(model, srsly.msgpack_dumps(message))
    for index in (2, 0, -2, 3, None, "1", True):
        message["nodes"][0]["refs"]["first"] = index
        with pytest.raises(ValueError, match=r"the reference 'first' leads to .*another part"):
            load_model(model, srsly.msgpack_dumps(message))


@pytest.mark.parametrize(
    ("name", "value"), [("column", 1), ("column", "0"), ("dropout_rate", "a"), ("dropout_rate", -1.0), ("mode", 3)]
)
def test_attributes(message, name, value):
    message["attrs"][0][name] = srsly.msgpack_dumps(value)
    with pytest.raises(ValueError, match=f"the attribute {name} is {value!r}; in a model of this config it is"):
        load(message)


def test_attributes_that_training_changes_or_another_version_has(message):
    assert load(message).attrs == {"column": 0, "dropout_rate": 0.1, "mode": "a", "other": None}
    for name, value in (("attend", 1), ("other", [1])):
        message["attrs"][0][name] = srsly.msgpack_dumps(value)
    assert load(message).attrs == {"column": 0, "dropout_rate": 0.1, "mode": "a", "other": [1]}


@pytest.mark.parametrize("key", ["nodes", "attrs", "params", "shims"])
@pytest.mark.parametrize("value", [[], {}, None, 3])
def test_another_structure(message, key, value):
    with pytest.raises(ValueError, match="mismatched structure: the model of the config has 3 parts"):
        load({**message, key: value})


def test_torch_modules(message):
    message["shims"][1] = [b""]
    with pytest.raises(ValueError, match="part 1 of the model, linear: 1 torch modules instead of 0"):
        load(message)


def test_shapes_of_thinc():
    for layer in (HashEmbed(4, 8, seed=1), Maxout(2, 3, nP=2, normalize=True), Linear(2, 3)):
        layer.initialize()
        for node in layer.walk():
            for name in node.param_names:
                copy: Model = layer.copy()
                broken = next(one for one in copy.walk() if one.name == node.name)
                broken.set_param(name, broken.get_param(name)[..., :1])
                with pytest.raises(ValueError, match=f"the parameter {name} has shape"):
                    load_model(layer, copy.to_bytes())


def test_a_module_without_its_weights():
    model = make_pipeline("FLAT", steps=1).get_pipe("lex_ner").model
    message = srsly.msgpack_loads(model.to_bytes())
    message["shims"][1] = [srsly.msgpack_dumps({"settings": None})]
    with pytest.raises(ValueError, match="weights of the part flat are missing"):
        load_model(model, srsly.msgpack_dumps(message))
