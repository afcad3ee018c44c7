import re

import numpy as np
import pytest
import spacy

from spacy_lexner.encoders.lebert.architecture import build_lebert_v1
from spacy_lexner.encoders.shared.shim import shim_of
from spacy_lexner.lexicon import Lexicon, LexiconEntry

SIZES = {"hidden_width": 16, "depth": 2, "heads": 2, "intermediate_width": 32, "adapter_layers": []}


def build(tmp_path, **settings):
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"南京市"]), "utf8")
    model = build_lebert_v1(vocab=str(vocab), **{**SIZES, **settings})
    model.initialize([spacy.blank("zh").make_doc("南京市")])
    return model


def test_pretrained_weights_keep_how_the_config_trains(tmp_path):
    pretrained = build(tmp_path, dropout=0.0, attention_dropout=0.0)
    how = {"dropout": 0.3, "attention_dropout": 0.2, "gradient_checkpointing": True}
    model = build(tmp_path, **how).from_bytes(pretrained.to_bytes())
    doc = spacy.blank("zh").make_doc("南京市")
    assert (model.predict([doc])[0] == pretrained.predict([doc])[0]).all()
    for each in (model, build_lebert_v1(**SIZES).from_bytes(model.to_bytes())):
        encoder, settings = shim_of(each).module.text_model, shim_of(each).settings
        assert (encoder.config.hidden_dropout_prob, encoder.embeddings.dropout.p) == (0.3, 0.3)
        assert encoder.config.attention_probs_dropout_prob == 0.2
        assert settings["lebert"]["gradient_checkpointing"] is True


@pytest.mark.parametrize(("option", "given"), [("depth", 1), ("heads", 4), ("intermediate_width", 8)])
def test_weights_of_other_sizes_are_refused(tmp_path, option, given):
    saved = build(tmp_path, **{option: given}).to_bytes()
    with pytest.raises(ValueError, match=rf"saved encoder has {option} = {given}, but .* with {SIZES[option]}: set"):
        build(tmp_path).from_bytes(saved)


@pytest.mark.parametrize(
    ("name", "option", "given", "other"),
    [
        ("LEBERT", "adapter_layers", [0], [1]),
        ("LEBERT", "empty", "pad", "zero"),
        ("ERNIE", "layer_types", ["sim", "mix"], ["mix", "norm"]),
        ("ERNIE", "entity_heads", 1, 2),
    ],
)
def test_weights_of_another_lexicon_or_entity_side_are_refused(tmp_path, name, option, given, other):
    words = Lexicon.from_entries([LexiconEntry("南京", entity_id="Q1", vector=np.ones(4, "f4"))])
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"南京市"]), "utf8")

    def model_with(value):
        encoder = {"@architectures": f"spacy-lexner.{name}.v1", "vocab": str(tmp_path / "vocab.txt"), option: value}
        sizes = {size: SIZES[size] for size in ("hidden_width", "depth", "heads", "intermediate_width")}
        nlp = spacy.blank("zh")
        nlp.add_pipe("lex_matcher").set_lexicon(words)
        model = nlp.add_pipe("tok2vec", config={"model": {**encoder, **sizes}}).model
        model.initialize([nlp.make_doc("南京市")])
        return model

    saved = model_with(given).to_bytes()
    assert model_with(given).from_bytes(saved).to_bytes() == saved
    with pytest.raises(ValueError, match=re.escape(f"saved encoder has {option} = {given}, but the config describes")):
        model_with(other).from_bytes(saved)


def test_a_model_without_weights_takes_any(tmp_path):
    saved = build(tmp_path, depth=1).to_bytes()
    assert shim_of(build_lebert_v1(**SIZES).from_bytes(saved)).module.text_model.config.num_hidden_layers == 1
