import pytest
import spacy

from spacy_lexner.encoders.lebert.architecture import build_lebert_v1
from spacy_lexner.encoders.shared.shim import shim_of

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


def test_a_model_without_weights_takes_any(tmp_path):
    saved = build(tmp_path, depth=1).to_bytes()
    assert shim_of(build_lebert_v1(**SIZES).from_bytes(saved)).module.text_model.config.num_hidden_layers == 1
