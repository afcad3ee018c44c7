"""The language model of an ELMo, pretrained on tiny data and measured."""

import json
from pathlib import Path

import pretrain_elmo
import pytest
import spacy

from configs import filled

LINES = ["南京市长江大桥很长。", "大桥在南京。", "北京大学在北京。"] * 8


@pytest.fixture
def small_config(tmp_path) -> Path:
    config = filled("pretrain_elmo")
    sizes = {"embedding_dim": 4, "filters": [[1, 4], [2, 4]], "projection_dim": 6, "cell_dim": 8}
    config["components"]["tok2vec"]["model"].update(sizes)
    config["pretraining"]["objective"].update(progress_bar=False, n_samples=5)
    config.to_disk(tmp_path / "small.cfg")
    (tmp_path / "text.txt").write_text("\n".join(LINES), "utf8")
    (tmp_path / "dev.txt").write_text("长江在南京。", "utf8")
    return tmp_path / "small.cfg"


def test_what_is_run(small_config, tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(pretrain_elmo, "run", commands.append)
    out, text = tmp_path / "out", tmp_path / "text.txt"
    more = "--pretraining.objective.cutoffs [1,2]"
    pretrain_elmo.main(small_config, text, out, steps=25, save_every=10, tokenizer="jieba", seed=7, options=more)
    assert [command[:2] for command in commands] == [["lexner", "count-words"], ["pretrain", str(out / "elmo.cfg")]]
    config = spacy.util.load_config(out / "elmo.cfg").interpolate()
    assert config["nlp"]["tokenizer"]["segmenter"] == "jieba" and config["training"]["seed"] == 7
    assert config["pretraining"]["max_epochs"] == 3 and config["pretraining"]["batcher"]["n_batches"] == 9
    assert config["pretraining"]["optimizer"]["learn_rate"]["total_steps"] == 27
    objective = config["pretraining"]["objective"]
    assert objective["words"] == str(out / "words.tsv") and objective["cutoffs"] == [1, 2]
    (out / "words.tsv").touch()
    (out / "model0.bin").write_bytes(b"\x80")  # an empty message
    with pytest.raises(SystemExit):
        pretrain_elmo.main(small_config, text, out)
    pretrain_elmo.main(small_config, text, out, resume=True)
    assert commands[2][-2:] == ["--resume-path", str(out / "model0.bin")] and len(commands) == 3
    with pytest.raises(SystemExit):
        pretrain_elmo.main(small_config, text, tmp_path / "other", tokenizer="pkuseg")


@pytest.mark.slow
@pytest.mark.parametrize("tokenizer, softmax", [("char", "full"), ("jieba", "sampled")])
def test_pretrain_in_two_parts(small_config, tmp_path, tokenizer, softmax):
    def run(**options):
        settings = {"steps": 4, "save_every": 2, "min_count": 1, "tokenizer": tokenizer, "softmax": softmax}
        pretrain_elmo.main(small_config, tmp_path / "text.txt", tmp_path / "out", **{**settings, **options})

    run(dev=tmp_path / "dev.txt")
    measured = [json.loads(line) for line in (tmp_path / "out" / "perplexity.jsonl").read_text("utf8").splitlines()]
    assert [line["file"] for line in measured] == ["model0.bin", "model1.bin"]
    assert measured[1]["perplexity"] < measured[0]["perplexity"]
    assert measured[0]["tokens"] == (6 if tokenizer == "char" else 4)
    with pytest.raises(SystemExit):
        run()
    (tmp_path / "out" / "model1.bin").unlink()
    run(resume=True)
    assert (tmp_path / "out" / "model1.bin").exists()
