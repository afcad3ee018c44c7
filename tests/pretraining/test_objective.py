import numpy as np
import pytest
from spacy.training.pretrain import pretrain

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
