"""Random mutations of our pipes' bytes, also resealed: a SealError, or a pipe that works."""

import copy
import json
from itertools import chain

import numpy as np
import pytest
import small_segmenter
import srsly
from fuzzing import PACKABLE, VALUES, changed_bytes, changed_value, fuzz, only
from hypothesis import strategies as st
from safetensors.numpy import load, save
from small_encoders import GOLD, make_pipeline

from spacy_lexner.integrity.seal import MAGIC, SealError, seal_bytes
from spacy_lexner.lexicon import LexiconError
from spacy_lexner.tagging.spans.tag_scheme import NoPathError

HEAD = len(MAGIC) + 32
INNER = [*PACKABLE, np.zeros(0, "f4"), np.full(3, np.inf, "f4"), np.ones(1, "f4"), np.ones((1, 16)), np.ones(13, "i4")]


def make(name):
    if name == "lex_segmenter":
        nlp = small_segmenter.blank()
        small_segmenter.train(nlp, steps=1)
        return nlp, name
    factory, _, encoder = name.partition(" ")
    return make_pipeline(encoder or "FLAT", steps=1), factory


def unpack(packed):
    """A model as saved by thinc, with its nodes' attributes and its torch modules unpacked."""
    model = srsly.msgpack_loads(packed)
    model["attrs"] = [{name: srsly.msgpack_loads(value) for name, value in attrs.items()} for attrs in model["attrs"]]
    model["shims"] = [[srsly.msgpack_loads(shim) for shim in shims] for shims in model["shims"]]
    for shim in chain(*model["shims"]):
        shim["state"] = load(shim["state"])
    return model


def pack(model):
    """The reverse, if the mutated value still has that form."""
    if isinstance(model, dict):
        for key in {"attrs", "shims"} & set(model):
            for row in model[key] if isinstance(model[key], list) else ():
                places = row if isinstance(row, dict) else range(len(row)) if isinstance(row, list) else ()
                for place in places:
                    row[place] = srsly.msgpack_dumps(pack_module(row[place]))
    return srsly.msgpack_dumps(model)


def pack_module(shim):
    state = shim.get("state") if isinstance(shim, dict) else None
    is_state = isinstance(state, dict) and all(isinstance(array, np.ndarray) for array in state.values())
    return {**shim, "state": save(state)} if is_state else shim


def with_parameters(packed, **changed):
    """A packed model with other parameters in every node that has any."""
    model = unpack(packed)
    for params in model["params"]:
        params.update({name: value for name, value in changed.items() if name in params})
    return model


def found_settings(name, settings):
    """Settings that once loaded and failed at the first text, or failed in the wrong way."""
    found = [{"labels": ["\ud800"]}, {"labels": [None]}]
    if name == "lex_matcher":
        found = [{"options": {**settings["options"], "min_length": value}} for value in (2.5, 2**70)]
        found += [{"spans_key": True}, {"spans_key": []}, {"rule_files": [["\ud800", 3]]}]
    elif name == "lex_segmenter":
        found += [{"known_words": ["南"]}, {"pos": ["pos"]}, {"units": "words"}]
    else:
        found += [{"threshold": "a" * 3000}, {"overwrite": "no"}, {"incorrect_spans_key": [1]}]
    return found


def is_float(name, value):
    return isinstance(value, float)


def is_return_dict(name, value):
    return name == "return_dict"


def is_activation(name, value):
    return name == "hidden_act"


def change_settings(settings, is_changed, new):
    """Change the values of some of a module's settings, including those of its parts."""
    for name, value in settings.items():
        if isinstance(value, dict):
            change_settings(value, is_changed, new)
        elif is_changed(name, value):
            settings[name] = new


def found_models(name, packed):
    """Models of which the same is true."""
    found = [{"emission_b": value} for value in (float("inf"), "", np.ones(1, "f4"), np.full(13, "", "U1"))]
    if name == "lex_segmenter":
        found.append({"G": float("inf")})
    models = [with_parameters(packed, **changed) for changed in found]
    for key in ("vocab", "wordpieces", "lexicon_width"):
        models.append(unpack(packed))
        for shim in chain(*models[-1]["shims"]):
            shim["settings"].pop(key, None)
    changes = [(is_float, float("nan")), (is_return_dict, False), (is_return_dict, None), (is_activation, None)]
    for is_changed, value in changes:
        models.append(unpack(packed))
        for shim in chain(*models[-1]["shims"]):
            change_settings(shim["settings"], is_changed, value)
    return models


@pytest.mark.parametrize(
    "name",
    [
        "lex_matcher",
        "lex_ner FLAT",
        "lex_ner LEBERT",
        "lex_ner ERNIE",
        "lex_ner ELMo",
        "lex_ner SoftLexicon",
        "lex_ner ensemble",
        "lex_segmenter",
    ],
)
def test_from_bytes(name):
    nlp, component = make(name)
    sealed = nlp.get_pipe(component).to_bytes()
    message = srsly.msgpack_loads(sealed[HEAD:])
    config = dict(nlp.config["components"][component])
    factory = config.pop("factory")

    def check(data):
        pipe = nlp.replace_pipe(component, factory, config=config)
        with only(SealError, LexiconError):
            pipe.from_bytes(data)
            with only(ValueError, NoPathError):  # NoPathError: weights may be finite and far too large
                list(nlp.pipe(text for text, _ in GOLD[:2]))

    def forge(changed):
        return seal_bytes(srsly.msgpack_dumps(changed))

    def forge_deep(drawn):
        """The nested message: settings as JSON, or the model's nodes."""
        key, changed = drawn
        packed = pack(copy.deepcopy(changed)) if key == "model" else json.dumps(changed).encode("utf8")
        return seal_bytes(srsly.msgpack_dumps({**message, key: packed}))

    parts = {key: srsly.json_loads(message[key]) for key in ("cfg", "rules") if key in message}
    found = [("cfg", {**parts["cfg"], **changed}) for changed in found_settings(name, parts["cfg"])]
    if "model" in message:
        parts["model"] = unpack(message["model"])
        found += [("model", model) for model in found_models(name, message["model"])]
    values = {"model": INNER}  # the others are JSON
    deep = st.one_of(
        st.tuples(st.just(key), changed_value([part], values.get(key, VALUES))) for key, part in parts.items()
    )
    inputs = changed_bytes([sealed]) | changed_value([message], PACKABLE).map(forge) | deep.map(forge_deep)
    fuzz(check, inputs, map(forge_deep, found))
