"""A run resumes only with what it was started with, from the last complete file, and is not trained twice."""

import re

import pretraining_run
import pytest
from pretraining_run import configure, last_checkpoint, open_run, run_settings
from spacy.util import load_config
from thinc.api import Config, Linear

WHOLE = Linear(2, 3).initialize().to_bytes()
PRETRAINING = {"batcher": {}, "objective": {}, "optimizer": {"learn_rate": {}}}
BASE = Config({"paths": {}, "system": {}, "pretraining": PRETRAINING})


def refusal(capsys) -> str:
    """RETURNS (str): What the message says is different."""
    return re.search("holds a run with other settings: ([^\x1b\n]*)", capsys.readouterr().out)[1]


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Starts or resumes a run of two epochs. It copies its config, as spaCy does, but is stopped after each epoch."""
    for name in ("text.txt", "words.txt"):
        (tmp_path / name).write_text("南京", "utf8")
    output = tmp_path / "run"
    commands = []

    def run_spacy(command):
        commands.append(command)
        output.mkdir(exist_ok=True)
        load_config(command[1]).to_disk(output / "config.cfg")
        (output / f"model{len(commands) - 1}.bin").write_bytes(WHOLE)

    def start(text=tmp_path / "text.txt", options="", resume=True, steps=20, **settings):
        own = {"pretraining.objective.lexicon": str(tmp_path / "words.txt"), **settings}
        own = {**run_settings(text, output, steps, save_every=10, seed=0), **own}
        run = open_run(configure(BASE, own, options), tmp_path / "run.cfg", output, resume=resume)
        run.train(-1)
        return commands

    monkeypatch.setattr(pretraining_run, "run_spacy", run_spacy)
    return start


def test_the_last_whole_file(tmp_path, capsys):
    assert last_checkpoint(tmp_path / "none") is None
    for number, content in enumerate([WHOLE, WHOLE, WHOLE[:50]]):
        (tmp_path / f"model{number}.bin").write_bytes(content)
    assert last_checkpoint(tmp_path) == tmp_path / "model1.bin"
    assert "model2.bin was not saved completely" in " ".join(capsys.readouterr().out.split())


def test_a_run_is_started_resumed_and_then_finished(start, tmp_path, capsys):
    config, output = str(tmp_path / "run.cfg"), tmp_path / "run"
    start(resume=False)
    with pytest.raises(SystemExit):
        start(resume=False)
    assert "already contains a run" in capsys.readouterr().out
    first, second = start()
    assert first == ["pretrain", config, str(output), "--gpu-id", "-1"]
    assert second == [*first, "--resume-path", str(output / "model0.bin")]
    (output / "model-last.bin").write_bytes(b"of an earlier epoch")
    assert start() == [first, second]
    assert "nothing is left to train" in capsys.readouterr().out
    assert (output / "model-last.bin").read_bytes() == WHOLE


def test_more_steps_prolong_a_run(start, tmp_path, capsys):
    start()
    start()
    assert len(start(steps=30)) == 3
    assert load_config(tmp_path / "run" / "config.cfg")["pretraining"]["max_epochs"] == 3
    assert len(start(steps=10)) == 3
    assert "a finished run (epochs: 3)" in capsys.readouterr().out


@pytest.mark.parametrize("first, then, epochs", [(20, 25, 3), (7, 20, 3), (20, 11, 2)])
def test_a_prolonged_run_keeps_the_length_of_its_epochs(start, tmp_path, first, then, epochs):
    start(steps=first)
    length = load_config(tmp_path / "run" / "config.cfg")["pretraining"]["batcher"]["n_batches"]
    start(steps=then)
    pretraining = load_config(tmp_path / "run" / "config.cfg")["pretraining"]
    assert pretraining["batcher"]["n_batches"] == length and pretraining["max_epochs"] == epochs
    assert pretraining["optimizer"]["learn_rate"]["total_steps"] == epochs * length


@pytest.mark.parametrize(
    "changed, named",
    [
        ({"options": "--system.seed 7"}, "system.seed = 7 (was 0)"),
        ({"options": "--pretraining.objective.share=0.4"}, "pretraining.objective.share = 0.4 (was None)"),
        ({"pretraining.batcher.n_batches": 7}, "pretraining.batcher.n_batches = 7 (was 10)"),
        ({"paths.checkpoint": "bert-base-chinese"}, "paths.checkpoint = 'bert-base-chinese' (was None)"),
        ({"pretraining.objective.lexicon": "other.txt"}, "the content of pretraining.objective.lexicon"),
        ({"text": "other.txt"}, "the content of paths.raw_text"),
    ],
)
@pytest.mark.parametrize("finished", [False, True])
def test_other_settings_or_files_are_refused(start, tmp_path, monkeypatch, capsys, changed, named, finished):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.txt").write_text("武汉", "utf8")
    start()
    if finished:
        start()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(SystemExit):
        start(**changed)
    assert refusal(capsys) == named
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_a_file_that_was_changed_is_refused_and_one_that_was_moved_is_not(start, tmp_path, capsys):
    start()
    (tmp_path / "text.txt").rename(tmp_path / "moved.txt")
    assert len(start(text=tmp_path / "moved.txt")) == 2
    (tmp_path / "moved.txt").write_text("北京", "utf8")
    (tmp_path / "words.txt").write_text("北京", "utf8")
    with pytest.raises(SystemExit):
        start(text=tmp_path / "moved.txt")
    assert refusal(capsys) == "the content of paths.raw_text, the content of pretraining.objective.lexicon"


def test_a_run_without_its_config_is_refused(start, tmp_path, capsys):
    start()
    (tmp_path / "run" / "config.cfg").unlink()
    with pytest.raises(SystemExit):
        start()
    assert refusal(capsys) == f"unknown ones (there is no {tmp_path / 'run' / 'config.cfg'})"


def test_a_run_without_a_whole_file_starts_with_other_settings(start, tmp_path):
    start(steps=2)
    (tmp_path / "run" / "model0.bin").write_bytes(WHOLE[:50])
    assert "--resume-path" not in start(options="--system.seed 7", steps=20)[-1]
    config = load_config(tmp_path / "run" / "config.cfg")
    assert config["system"]["seed"] == 7
    assert config["pretraining"]["batcher"]["n_batches"] == 10 and config["pretraining"]["max_epochs"] == 2


@pytest.mark.parametrize(
    "options, problem",
    [
        ("--seed 7", "--seed"),
        ("--system.seed '7", "No closing quotation"),
        ("--corpora.seed 7", "not a section value that can be overridden"),
    ],
)
def test_options_that_are_no_settings(start, tmp_path, capsys, options, problem):
    with pytest.raises(SystemExit):
        start(options=options)
    assert problem in capsys.readouterr().out and not (tmp_path / "run.cfg").exists()


def test_settings_from_the_environment_count(start, monkeypatch, capsys):
    """`spacy pretrain` reads them too."""
    start()
    monkeypatch.setenv("SPACY_CONFIG_OVERRIDES", "--system.seed 7")
    with pytest.raises(SystemExit):
        start()
    assert refusal(capsys) == "system.seed = 7 (was 0)"
