"""Pretraining in half precision: the loss of every objective falls."""

import pytest
import srsly
import torch
from spacy.training.pretrain import pretrain

from spacy_lexner.encoders.shared import shim

MODEL, OBJECTIVE = "components.tok2vec.model", "pretraining.objective"
BILM = {
    "nlp.pipeline": ["tok2vec"],
    "initialize.before_init": None,
    "corpora.pretrain.sentences": False,
    MODEL: {
        "@architectures": "spacy-lexner.ELMo.v1",
        "unit": "byte",
        "embedding_dim": 4,
        "filters": [[1, 8], [2, 8]],
        "projection_dim": 12,
        "cell_dim": 16,
        "cell_clip": 3.0,
        "freeze": True,
    },
    OBJECTIVE: {"@architectures": "spacy-lexner.PretrainBiLM.v1", "progress_bar": False},
}


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("".join(f"{word}\t9\n" for word in "南京市长江大桥很。北在中国河流"), "utf8")
    return str(path)


@pytest.mark.parametrize(
    "objective, loss", [("mlm", "masked_lm_loss"), ("ernie", "entity_loss"), ("bilm", "forward_loss")]
)
def test_the_loss_falls(objective, loss, pretraining_config, ernie_overrides, words, tmp_path, monkeypatch):
    monkeypatch.setattr(shim, "half_precision", lambda device: torch.bfloat16)
    overrides = {"mlm": {OBJECTIVE + ".next_sentence": True}, "ernie": ernie_overrides(), "bilm": BILM}[objective]
    log = tmp_path / "log.jsonl"
    config = pretraining_config({**overrides, "pretraining.max_epochs": 16})
    config["components"]["tok2vec"]["model"]["mixed_precision"] = True
    config["pretraining"]["objective"].update(log_every=8, log_path=str(log))
    if objective == "bilm":
        config["pretraining"]["objective"]["words"] = words
    (tmp_path / "out").mkdir()
    pretrain(config, tmp_path / "out", silent=True)
    records = list(srsly.read_jsonl(log))
    assert records[-1][loss] < records[0][loss] - 0.2
