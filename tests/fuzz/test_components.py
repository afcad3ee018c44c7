"""Bytes of our pipes, changed at random, also under a seal that fits them: a SealError, or a pipe that works."""

import json

import pytest
import small_segmenter
import srsly
from fuzzing import PACKABLE, VALUES, changed_bytes, changed_value, fuzz, only
from hypothesis import strategies as st
from small_encoders import GOLD, make_pipeline

from spacy_lexner.integrity.seal import MAGIC, SealError, seal_bytes
from spacy_lexner.lexicon import LexiconError

HEAD = len(MAGIC) + 32


def make(name):
    if name == "lex_segmenter":
        nlp = small_segmenter.blank()
        small_segmenter.train(nlp, steps=1)
        return nlp, name
    factory, _, encoder = name.partition(" ")
    return make_pipeline(encoder or "FLAT", steps=1), factory


@pytest.mark.parametrize("name", ["lex_matcher", "lex_ner FLAT", "lex_ner LEBERT", "lex_ner ensemble", "lex_segmenter"])
def test_from_bytes(name):
    nlp, component = make(name)
    sealed = nlp.get_pipe(component).to_bytes()
    message = srsly.msgpack_loads(sealed[HEAD:])

    def check(data):
        pipe = nlp.get_pipe(component).from_bytes(sealed)
        with only(SealError, LexiconError):
            pipe.from_bytes(data)
            with only(ValueError):
                list(nlp.pipe(text for text, _ in GOLD[:2]))

    def forge(changed):
        return seal_bytes(srsly.msgpack_dumps(changed))

    def forge_deep(drawn):
        """The message inside of the message: settings as JSON, or the model's nodes."""
        key, changed = drawn
        packed = srsly.msgpack_dumps(changed) if key == "model" else json.dumps(changed).encode("utf8")
        return seal_bytes(srsly.msgpack_dumps({**message, key: packed}))

    parts = {key: srsly.json_loads(message[key]) for key in ("cfg", "rules") if key in message}
    if "model" in message:
        parts["model"] = srsly.msgpack_loads(message["model"])
    values = {"model": PACKABLE}  # the others are JSON
    deep = st.one_of(
        st.tuples(st.just(key), changed_value([part], values.get(key, VALUES))) for key, part in parts.items()
    )
    settings = parts["cfg"]
    found = [{"labels": ["\ud800"]}, {"labels": [None]}]
    if name == "lex_matcher":
        found = [{"options": {**settings["options"], "min_length": value}} for value in (2.5, 2**70)]
        found.append({"spans_key": True})
    inputs = changed_bytes([sealed]) | changed_value([message], PACKABLE).map(forge) | deep.map(forge_deep)
    fuzz(check, inputs, [forge_deep(("cfg", {**settings, **changed})) for changed in found])
