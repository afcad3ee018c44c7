"""`spacy pretrain` with PretrainERNIE.v1, from the config to the saved encoder."""

import numpy as np
import pytest
import srsly
from spacy import util
from spacy.training import Example
from spacy.training.pretrain import pretrain as spacy_pretrain
from thinc.api import Linear

from spacy_lexner.training.pretrain_ernie import create_pretrain_ernie


def run(config, folder, **options):
    folder.mkdir(exist_ok=True)
    spacy_pretrain(config, folder, silent=True, **options)
    return folder


def weights(path, config):
    model = util.load_model_from_config(config).get_pipe("tok2vec").model
    model.from_bytes(path.read_bytes())
    return {name: p.detach().numpy() for name, p in model.shims[0].module.named_parameters()}


def test_the_loss_of_every_head_is_logged_and_that_of_entities_falls(pretraining_config, ernie_overrides, tmp_path):
    overrides = ernie_overrides()
    overrides["pretraining.objective"].update(log_every=8, log_path=str(tmp_path / "log.jsonl"))
    run(pretraining_config({**overrides, "pretraining.max_epochs": 16}), tmp_path / "out")
    records = list(srsly.read_jsonl(tmp_path / "log.jsonl"))
    for head in ("masked_lm", "next_sentence", "entity"):
        assert {f"{head}_loss", f"{head}_accuracy"} <= set(records[0])
    assert records[-1]["entity_loss"] < records[0]["entity_loss"] - 0.2
    assert records[-1]["masked_lm_loss"] < records[0]["masked_lm_loss"] - 0.2


def test_a_resumed_run_gives_the_weights_of_an_unbroken_one(pretraining_config, ernie_overrides, tmp_path):
    config = pretraining_config({**ernie_overrides(), "pretraining.max_epochs": 3})
    unbroken = run(config.copy(), tmp_path / "unbroken")
    killed = run(pretraining_config({**ernie_overrides(), "pretraining.max_epochs": 1}), tmp_path / "killed")
    run(config.copy(), killed, resume_path=killed / "model0.bin", epoch_resume=None)
    expected, found = (weights(folder / "model2.bin", config) for folder in (unbroken, killed))
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def test_the_encoder_starts_training_from_the_saved_file(pretraining_config, ernie_overrides, tmp_path):
    run(pretraining_config({**ernie_overrides(), "pretraining.max_epochs": 1}), tmp_path / "out")
    path = tmp_path / "out" / "model0.bin"
    config = pretraining_config({**ernie_overrides(), "initialize.init_tok2vec": str(path)})
    nlp = util.load_model_from_config(config)
    doc = nlp.make_doc("南京市长江大桥很长。")
    nlp.initialize(lambda: [Example(doc, doc)])
    module = nlp.get_pipe("tok2vec").model.shims[0].module
    for name, values in weights(path, config).items():
        np.testing.assert_array_equal(dict(module.named_parameters())[name].detach().numpy(), values)


def test_another_model_than_ernie_is_refused():
    with pytest.raises(ValueError, match=r"pretrains spacy-lexner.ERNIE.v1, but .*'linear'.* holds 0"):
        create_pretrain_ernie()(None, Linear(2, 2))
