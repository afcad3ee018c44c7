import numpy as np
import pytest
from spacy.training.pretrain import pretrain

from spacy_lexner.pretraining.saved_objective import load_weights, make_objective

RESUMABLE = "pretraining.objective.resumable"


def head_of(model):
    return model.get_ref("heads").shims[0].module.masked_lm


def test_heads_come_back_with_the_encoder(pretraining_config, tmp_path):
    config = pretraining_config({"pretraining.max_epochs": 1})
    pretrain(config, tmp_path)
    loaded = []
    for _ in range(2):
        nlp, model = make_objective(config)
        before = head_of(model).bias.detach().numpy().copy()
        load_weights(model, tmp_path / "model-last.bin", "heads")
        loaded.append(head_of(model).bias.detach().numpy())
        assert not np.array_equal(before, loaded[-1])
    np.testing.assert_array_equal(*loaded)
    assert nlp.pipe_names == ["lex_matcher", "tok2vec"]


def test_a_file_without_heads(pretraining_config, tmp_path):
    config = pretraining_config({"pretraining.max_epochs": 1, RESUMABLE: False})
    pretrain(config, tmp_path)
    with pytest.raises(ValueError, match=r"model-last\.bin holds no heads: it was saved without resumable = true"):
        load_weights(make_objective(config)[1], tmp_path / "model-last.bin", "heads")


def test_the_config_stays_as_it_is(pretraining_config):
    config = pretraining_config({"initialize.init_tok2vec": "a run.bin"})
    make_objective(config)
    assert config["initialize"]["init_tok2vec"] == "a run.bin"
