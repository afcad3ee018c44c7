"""The language model of an ELMo, pretrained on tiny data and measured."""

import json
import shlex
from pathlib import Path

import pretrain_elmo
import pretraining_run
import pytest
import spacy
from pages import run_commands

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


@pytest.fixture
def commands(monkeypatch):
    noted = []
    for module in (pretrain_elmo, pretraining_run):
        monkeypatch.setattr(module, "run_spacy", noted.append)
    return noted


@pytest.fixture
def in_this_process(commands, monkeypatch):
    """Runs the commands of spaCy, but not in processes of their own."""

    def run_spacy(command):
        commands.append(command)
        run_commands(shlex.join(["python", "-m", "spacy", *command]))

    for module in (pretrain_elmo, pretraining_run):
        monkeypatch.setattr(module, "run_spacy", run_spacy)
    return commands


def test_what_is_run(small_config, tmp_path, commands):
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
    with pytest.raises(SystemExit):
        pretrain_elmo.main(small_config, text, tmp_path / "other", tokenizer="pkuseg")


def test_after_a_start_that_failed_words_and_config_are_made_again(small_config, tmp_path, commands):
    out, text = tmp_path / "out", tmp_path / "text.txt"
    pretrain_elmo.main(small_config, text, out)
    (out / "words.tsv").touch()
    pretrain_elmo.main(
        small_config, text, out, min_count=1, options="--pretraining.objective.cutoffs [1,2]", resume=True
    )
    assert commands[2][:2] == ["lexner", "count-words"] and commands[2][-4:-2] == ["--min-count", "1"]
    assert spacy.util.load_config(out / "elmo.cfg")["pretraining"]["objective"]["cutoffs"] == [1, 2]


def test_a_run_resumes_only_with_its_own_settings(small_config, tmp_path, in_this_process, capsys):
    def run(**changed):
        settings = {"steps": 2, "save_every": 1, "min_count": 1, "resume": True, **changed}
        pretrain_elmo.main(small_config, tmp_path / "text.txt", tmp_path / "out", **settings)

    run()
    (tmp_path / "out" / "model1.bin").unlink()
    with pytest.raises(SystemExit):
        run(resume=False)
    for name, value, named in [
        ("min_count", 2, "count_words.min_count = 2 (was 1)"),
        ("tokenizer", "jieba", "nlp.tokenizer.segmenter = 'jieba' (was None)"),
        ("softmax", "sampled", "pretraining.objective.softmax = 'sampled' (was 'full')"),
        ("seed", 7, "other settings: system.seed = 7 (was 0)"),
    ]:
        with pytest.raises(SystemExit):
            run(**{name: value})
        assert named in capsys.readouterr().out
    assert len(in_this_process) == 2
    run()
    assert in_this_process[2][-2:] == ["--resume-path", str(tmp_path / "out" / "model0.bin")]
    assert (tmp_path / "out" / "model1.bin").is_file()
    run()
    assert len(in_this_process) == 3 and "nothing is left to train" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("tokenizer, softmax", [("char", "full"), ("jieba", "sampled")])
def test_pretrain_in_two_parts(small_config, tmp_path, tokenizer, softmax):
    def run(**options):
        settings = {"steps": 40, "save_every": 20, "min_count": 1, "tokenizer": tokenizer, "softmax": softmax}
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
