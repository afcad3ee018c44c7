import numpy as np
import pytest
import torch
from spacy.training.pretrain import pretrain
from thinc.api import PyTorchGradScaler, use_ops
from vector_text import write_vectors

from spacy_lexner.pretraining.objective import load_objective

RESUMABLE = "pretraining.objective.resumable"


def head_of(model):
    return model.get_ref("heads").shims[0].module.masked_lm


def test_heads_come_back_with_the_encoder(pretraining_config, tmp_path):
    config = pretraining_config({"pretraining.max_epochs": 1})
    pretrain(config, tmp_path)
    loaded = []
    for _ in range(2):
        nlp, model = load_objective(config, tmp_path / "model-last.bin")
        loaded.append(head_of(model).bias.detach().numpy())
        assert loaded[-1].any()  # it begins with zeros
    np.testing.assert_array_equal(*loaded)
    assert nlp.pipe_names == ["lex_matcher", "tok2vec"]


def test_a_file_without_heads(pretraining_config, tmp_path):
    config = pretraining_config({"pretraining.max_epochs": 1, RESUMABLE: False})
    pretrain(config, tmp_path)
    with pytest.raises(ValueError, match=r"model-last\.bin has no pretraining heads: it was saved without resumable"):
        load_objective(config, tmp_path / "model-last.bin")


def test_the_config_stays_as_it_is(pretraining_config, tmp_path):
    pretrain(pretraining_config({"pretraining.max_epochs": 1}), tmp_path)
    config = pretraining_config({"initialize.init_tok2vec": "a run.bin"})
    load_objective(config, tmp_path / "model-last.bin")
    assert config["initialize"]["init_tok2vec"] == "a run.bin"


def test_a_scaled_loss(pretraining_config, tmp_path, monkeypatch):
    """As on a GPU, where thinc scales gradients in place, by a factor of shape (1,)."""
    scaled = []

    def scale(_self, tensors, inplace):
        scaled.extend(tensors)
        return [tensor.mul_(torch.ones(1)) for tensor in tensors]

    monkeypatch.setattr(PyTorchGradScaler, "scale", scale)
    pretrain(pretraining_config({"pretraining.max_epochs": 1}), tmp_path)
    assert scaled and (tmp_path / "model-last.bin").is_file()


@pytest.mark.gpu
def test_on_a_gpu(pretraining_config, tmp_path):
    vectors = write_vectors(tmp_path / "c.vec", {"南": [1, 0], "京": [1, 0.1], "市": [-1, 0]})
    values = {"components.tok2vec.model.piece_vectors": vectors, "components.tok2vec.model.mixed_precision": True}
    with use_ops("cupy"):
        pretrain(pretraining_config({"pretraining.max_epochs": 1, **values}), tmp_path, use_gpu=0)
    assert (tmp_path / "model-last.bin").is_file()
