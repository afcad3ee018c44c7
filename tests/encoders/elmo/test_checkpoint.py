import json
import shutil

import pytest
import torch

from spacy_lexner.checkpoints.elmo import import_elmo
from spacy_lexner.encoders.elmo.bilm import BiLM
from spacy_lexner.encoders.elmo.checkpoint import build_cnn, load_weights, read_config, weight_shapes


@pytest.fixture
def checkpoint(fixtures_dir, tmp_path):
    import_elmo(fixtures_dir / "elmo" / "options.json", fixtures_dir / "elmo" / "weights.hdf5", tmp_path / "elmo")
    return tmp_path / "elmo"


def load(folder, **changes):
    config = read_config(folder)
    cnn, bilm = build_cnn(config), BiLM(**{**config["bilm"], **changes})
    load_weights(folder, config, cnn, bilm)
    return cnn, bilm


def test_with_and_without_clipping_the_weights_are_the_same(checkpoint):
    _, clipped = load(checkpoint)
    _, plain = load(checkpoint, cell_clip=None, projection_clip=None)
    for layer, torch_layer in zip(clipped.layers, plain.layers):
        for direction, lstm in enumerate(torch_layer.directions):
            assert torch.equal(lstm.weight_ih_l0, layer.input_weight[direction])
            assert torch.equal(lstm.bias_hh_l0, layer.bias[direction]) and not lstm.bias_ih_l0.any()


def test_shapes_without_allocation():
    config = {
        "characters": {"unit": "byte", "max_characters": 50},
        "cnn": {"embedding_dim": 10**7, "filters": [[3, 10]], "n_highway": 1, "activation": "relu"},
        "bilm": {"projection_dim": 10**6, "cell_dim": 10**6, "n_layers": 1},
    }
    shapes = weight_shapes(config)
    assert shapes["bilm.layers.0.recurrent_weight"] == [2, 4 * 10**6, 10**6]
    assert shapes["characters.embedding.weight"] == [262, 10**7]


def test_not_a_checkpoint(tmp_path, checkpoint):
    with pytest.raises(ValueError, match="import elmo"):
        read_config(tmp_path)
    for content in ("{", "[]", '{"model_type": "bert"}', '{"model_type": "elmo", "characters": {}, "cnn": {}}'):
        (checkpoint / "config.json").write_text(content)
        with pytest.raises(ValueError, match=r"config\.json"):
            read_config(checkpoint)


def test_a_config_that_lacks_a_size(checkpoint):
    config = json.loads((checkpoint / "config.json").read_text("utf8"))
    del config["bilm"]["cell_clip"]
    (checkpoint / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="does not describe"):
        read_config(checkpoint)


def test_weights_of_another_size(checkpoint):
    config = json.loads((checkpoint / "config.json").read_text("utf8"))
    config["bilm"]["cell_dim"] = 25
    (checkpoint / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"bilm\.layers\.0\.bias has shape \[2, 96\] instead of \[2, 100\]"):
        load(checkpoint)


def test_weights_missing_or_truncated(checkpoint, tmp_path):
    whole = (checkpoint / "model.safetensors").read_bytes()
    (checkpoint / "model.safetensors").write_bytes(whole[:-100])
    with pytest.raises(ValueError, match="truncated or damaged"):
        load(checkpoint)
    (checkpoint / "model.safetensors").unlink()
    with pytest.raises(ValueError, match="has no weights"):
        load(checkpoint)
    shutil.rmtree(checkpoint)
