"""The workflows from start to end, as a user would run them. Takes minutes."""

import json
import os
import shutil
import subprocess
import sys

import pytest
import spacy
import transformers

from spacy_lexner.lexicon import Lexicon

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture
def checkout(project_dir, tmp_path):
    """A copy of what the workflows read, without anything they wrote."""
    written = (
        "assets",
        "configs",
        "corpus",
        "lexicon",
        "training",
        "vectors",
        "checkpoints",
        "metrics",
        "packages",
        "project.lock",
        "__pycache__",
    )
    shutil.copytree(project_dir, tmp_path / "project", ignore=shutil.ignore_patterns(*written))
    shutil.copytree(project_dir.parent / "configs", tmp_path / "configs")
    return tmp_path


def run(checkout, *arguments):
    command = [sys.executable, "-m", "spacy", "project", "run", *arguments]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_all(checkout):
    out = run(checkout, "all", "project")
    project = checkout / "project"
    scores = json.loads((project / "metrics" / "demo.json").read_text("utf8"))
    assert scores["lexicon"]["ents_f"] > 0.8
    assert scores["lexicon"]["ents_f"] > scores["empty"]["ents_f"] + 0.05
    assert scores["lexicon"]["recall_unseen"] > scores["empty"]["recall_unseen"] + 0.1
    assert "南京市长江大桥" in out
    package = project / "packages" / "zh_lexner_demo-0.1.0"
    assert (package / "setup.py").is_file()
    assert spacy.load(package / "zh_lexner_demo" / "zh_lexner_demo-0.1.0").pipe_names == ["lex_matcher", "lex_ner"]
    again = run(checkout, "all", "project")
    assert again.count("nothing changed") == 5 and "Training pipeline" not in again


def test_train(checkout, data_dir):
    settings = ("--vars.data_dir", str(data_dir), "--vars.dataset", "weibo")
    out = run(checkout, "train", "project", *settings)
    assert "does not begin with B" in out  # the defects of the real set are reported
    scores = json.loads((checkout / "project" / "metrics" / "weibo-flat.json").read_text("utf8"))
    assert scores["flat"]["ents_f"] > 0.3
    assert set(scores) == {"flat", "flat, lexicon emptied"}
    assert run(checkout, "train", "project", *settings).count("nothing changed") == 5  # all but fetch


SPEED = " --training.optimizer.learn_rate.total_steps 4 --training.eval_frequency 2"


@pytest.mark.parametrize("absolute", [False, True])
def test_own_data(checkout, absolute):
    """A data set that project.yml does not know, in two formats; paths relative to where the command is typed."""
    names = {"train": "my_train.conll", "dev": "my_dev.jsonl", "test": "my_test.conll"}
    tagged = "\n\n".join("我 O\n在 O\n北 B-LOC\n京 I-LOC" for _ in range(20)) + "\n"
    for split in ("train", "test"):
        (checkout / names[split]).write_text(tagged, "utf8")
    line = {"text": "我在北京", "label": {"LOC": {"北京": [[2, 3]]}}}
    (checkout / names["dev"]).write_text(json.dumps(line, ensure_ascii=False) + "\n", "utf8")
    (checkout / "my_words.txt").write_text("北京\n", "utf8")
    files = {split: str(checkout / name) if absolute else name for split, name in names.items()}
    settings = ["--vars.dataset", "mine", *(part for split in files for part in (f"--vars.{split}", files[split]))]
    settings += ["--vars.lexicon", "my_words.txt", "--vars.options", SPEED]
    run(checkout, "train", "project", *settings)
    scores = json.loads((checkout / "project" / "metrics" / "mine-flat.json").read_text("utf8"))
    assert scores["flat"]["n_seen"] == 20
    again = run(checkout, "train", "project", *settings)
    assert again.count("nothing changed") == 5
    (checkout / names["test"]).write_text(tagged.replace("我", "他"), "utf8")
    assert run(checkout, "train", "project", *settings).count("nothing changed") == 2  # lexicon and config
    (checkout / "my_words.txt").write_text("北京\n上海\n", "utf8")
    assert run(checkout, "train", "project", *settings).count("nothing changed") == 2  # convert and config


def test_own_data_that_is_not_there(checkout):
    command = [sys.executable, "-m", "spacy", "project", "run", "train", "project", "--vars.dataset", "mine"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True)
    assert done.returncode and "--vars.train my_train.conll" in done.stdout.replace("\n", " ")


TEXT = [f"第{i}段：南京市的长江大桥很长，我们在桥上看见了江水和船只，大家都很高兴。" for i in range(300)]


def test_pretrain(checkout, data_dir):
    """Text that contains a sentence of a test split is refused; without it, the result is a checkpoint."""
    rows = (data_dir / "originals" / "weibo" / "test.char.bmes").read_text("utf8").split("\n\n")
    sentences = ["".join(row.split()[0][0] for row in block.splitlines() if row.strip()) for block in rows]
    (checkout / "text.txt").write_text("\n".join([*TEXT, max(sentences, key=len)]), "utf8")
    settings = ["--vars.text", str(checkout / "text.txt"), "--vars.steps", "2", "--vars.protected", "weibo"]
    settings += ["--vars.data_dir", str(data_dir)]
    command = [sys.executable, "-m", "spacy", "project", "run", "pretrain", "project/pretraining", *settings]
    refused = subprocess.run(command, cwd=checkout, capture_output=True, text=True)
    assert refused.returncode and "contains a text of weibo test" in " ".join(refused.stdout.split())
    assert not (checkout / "project" / "checkpoints" / "small-piece").exists()
    (checkout / "text.txt").write_text("\n".join(TEXT), "utf8")
    run(checkout, "pretrain", "project/pretraining", *settings)
    checkpoint = checkout / "project" / "checkpoints" / "small-piece"
    assert transformers.AutoModel.from_pretrained(checkpoint).num_parameters()
    (checkout / "text.txt").write_text("\n".join(TEXT[1:]), "utf8")
    other = subprocess.run([*command, "--vars.seed", "7"], cwd=checkout, capture_output=True, text=True)
    reason = "the content of paths.raw_text, system.seed = 7 (was 0)"
    assert other.returncode and reason in " ".join(other.stdout.split())


def test_vectors(checkout):
    """Every word of the dictionary has a vector."""
    pytest.importorskip("gensim")
    (checkout / "text.txt").write_text("\n".join(TEXT), "utf8")
    words = checkout / "words.txt"
    words.write_text("南京市\n长江大桥\n大桥上\n龘\n", "utf8")
    settings = ("--vars.text", str(checkout / "text.txt"), "--vars.lexicon", str(words), "--vars.dim", "8")
    out = run(checkout, "vectors", "project/pretraining", *settings)
    assert "1 without any known part" in " ".join(out.split())
    lexicon = Lexicon.open(checkout / "project" / "vectors" / "lexicon")
    assert lexicon.dim == 8 and all(entry.vector is not None for entry in lexicon.entries())
    assert {"南京市", "长江大桥", "大桥上", "龘"} <= set(lexicon)
    assert (checkout / "project" / "vectors" / "bigrams.vec").is_file()
