import json
import logging

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from transformers import BertConfig, BertForMaskedLM, BertModel, RobertaConfig, RobertaModel

from spacy_lexner.encoders.shared.bert_shaped import (
    build_encoder,
    config_settings,
    encoder_layers,
    load_encoder,
    load_encoder_config,
    load_tokenizer,
    max_length,
)
from spacy_lexner.encoders.shared.wordpieces import SPECIAL_PIECES

SIZES = {"vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


@pytest.fixture(autouse=True)
def quiet():
    logging.getLogger("transformers").setLevel(logging.ERROR)


def load(path):
    return load_encoder(str(path), load_encoder_config(str(path)))


def test_settings_build_the_same_encoder():
    config = BertConfig(**SIZES, hidden_dropout_prob=0.3, id2label={0: "x", 1: "y"}, layer_norm_eps=1e-7)
    encoder = build_encoder(config_settings(config))
    assert isinstance(encoder, BertModel) and encoder.pooler is None
    assert encoder.config.hidden_dropout_prob == 0.3 and encoder.config.layer_norm_eps == 1e-7
    assert config_settings(encoder.config) == config_settings(config)
    assert "_name_or_path" not in config_settings(config)


@pytest.mark.parametrize("with_head", [False, True])
def test_load_a_checkpoint(tmp_path, with_head):
    config = BertConfig(**SIZES)
    saved = BertForMaskedLM(config) if with_head else BertModel(config)
    saved.half().save_pretrained(tmp_path)
    encoder = load(tmp_path)
    assert encoder.dtype == torch.float32 and encoder.pooler is None
    expected = (saved.bert if with_head else saved).embeddings.word_embeddings.weight
    assert torch.equal(encoder.embeddings.word_embeddings.weight, expected.float())


def test_a_folder_without_config(tmp_path):
    with pytest.raises(ValueError, match=r"config of the checkpoint .* cannot be read.*folder with config.json"):
        load(tmp_path)


def test_a_folder_without_weights(tmp_path):
    BertConfig(**SIZES).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"weights of the checkpoint .* cannot be loaded.*model.safetensors"):
        load(tmp_path)


def test_truncated_weights(tmp_path):
    BertModel(BertConfig(**SIZES)).save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"weights of the checkpoint .* cannot be loaded"):
        load(tmp_path)


def test_weights_with_the_prefix_of_a_wrapper(tmp_path):
    model = BertModel(BertConfig(**SIZES))
    model.config.save_pretrained(tmp_path)
    torch.save(
        {f"module.bert.{name}": value for name, value in model.state_dict().items()}, tmp_path / "pytorch_model.bin"
    )
    with pytest.raises(ValueError, match=r"It has module\.bert\.embeddings.*: remove the prefix 'module\.bert\.'"):
        load(tmp_path)


def test_weights_of_another_model(tmp_path):
    RobertaModel(RobertaConfig(**SIZES)).save_pretrained(tmp_path)
    BertConfig(**{**SIZES, "num_hidden_layers": 3}).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"lacks \d+ of the encoder's weights.*encoder\.layer\.2"):
        load(tmp_path)


def test_weights_of_another_size(tmp_path):
    BertModel(BertConfig(**SIZES)).save_pretrained(tmp_path)
    BertConfig(**{**SIZES, "hidden_size": 32}).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"weights of the checkpoint .* cannot be loaded"):
        load(tmp_path)


def test_a_pickle_that_holds_more_than_tensors_is_refused(tmp_path):
    class Evil:
        def __reduce__(self):
            return print, ("never printed",)

    BertConfig(**SIZES).save_pretrained(tmp_path)
    torch.save({"embeddings.word_embeddings.weight": Evil()}, tmp_path / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"weights of the checkpoint .* cannot be loaded"):
        load(tmp_path)


def test_layers_and_positions():
    bert = build_encoder(config_settings(BertConfig(**SIZES)))
    assert len(encoder_layers(bert)) == 2 and max_length(bert) == 512
    roberta = build_encoder(config_settings(RobertaConfig(**SIZES, max_position_embeddings=514, pad_token_id=1)))
    assert max_length(roberta) == 512
    longest = torch.full((1, 512), 5)
    assert roberta(longest).last_hidden_state.shape == bert(longest).last_hidden_state.shape == (1, 512, 16)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("layer_norm_eps", "1e-12", "a number"),
        ("layer_norm_eps", None, "a number"),
        ("hidden_dropout_prob", True, "a number"),
        ("return_dict", None, "a flag"),
        ("is_decoder", 0, "a flag"),
        ("hidden_act", None, "a text"),
    ],
)
def test_a_setting_of_the_wrong_kind(name, value, expected):
    settings = config_settings(BertConfig(**SIZES))
    with pytest.raises(ValueError, match=f"{name} of the encoder is .*; expected {expected} such as"):
        build_encoder({**settings, name: value})
    build_encoder({**settings, "eos_token_id": [1, 2], "pad_token_id": None})


def test_a_tokenizer_class_of_another_version_of_transformers(tmp_path):
    pieces = [*SPECIAL_PIECES.values(), "南", "京"]
    vocab = {piece: i for i, piece in enumerate(pieces)}
    Tokenizer(WordPiece(vocab, unk_token="[UNK]")).save(str(tmp_path / "tokenizer.json"))
    names = {f"{name}_token": piece for name, piece in SPECIAL_PIECES.items()}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "OfAnotherVersion", **names}))
    found = load_tokenizer(str(tmp_path))
    assert [found[name] for name in SPECIAL_PIECES] == list(range(len(SPECIAL_PIECES)))
    assert json.loads(found["tokenizer"])["model"]["vocab"] == vocab
    (tmp_path / "tokenizer.json").rename(tmp_path / "vocab.txt")
    with pytest.raises(ValueError, match=r"tokenizer of the checkpoint .* cannot be loaded"):
        load_tokenizer(str(tmp_path))
