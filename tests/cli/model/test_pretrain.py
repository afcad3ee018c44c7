"""The command around a run of `pretrain_together`, which is tested with `parallel`."""

import pytest
from spacy.util import load_config
from thinc.api import Linear
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.cli.model.make_config import BASES
from spacy_lexner.pretraining import parallel

CONFIG = """
[paths]
raw_text = null
[pretraining]
corpus = ${paths.raw_text}
[training]
[initialize]
"""


@pytest.fixture
def runs(monkeypatch):
    """What would be pretrained: the config, and what the folder holds when that begins."""
    runs = []

    def pretrain(config, output, **settings):
        names = sorted(path.name for path in output.iterdir()) if output.exists() else []
        runs.append((config["pretraining"]["corpus"], names))

    monkeypatch.setattr(parallel, "pretrain_together", pretrain)
    return runs


def pretrain(folder, *arguments):
    (folder / "pretrain.cfg").write_text(CONFIG, "utf8")
    command = ["pretrain", str(folder / "pretrain.cfg"), str(folder / "out"), "--paths.raw_text", "text.txt"]
    result = CliRunner().invoke(lexner, [*command, *map(str, arguments)])
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.parametrize("content", [b"", Linear(2, 3).to_bytes()[:-5]])
def test_an_incomplete_file_to_resume_from_is_named(tmp_path, runs, content):
    (tmp_path / "model0.bin").write_bytes(content)
    code, output = pretrain(tmp_path, "--resume-path", tmp_path / "model0.bin")
    assert code == 1 and "is not a model file, or is incomplete" in output and not runs


def test_the_config_is_there_when_a_run_begins(tmp_path, runs):
    code, output = pretrain(tmp_path)
    assert code == 0 and runs == [("text.txt", ["config.cfg"])] and "not empty" not in output
    written = load_config(tmp_path / "out" / "config.cfg")
    assert written["pretraining"]["corpus"] == "${paths.raw_text}" and written["paths"]["raw_text"] == "text.txt"


def test_a_folder_with_another_run_is_pointed_out(tmp_path, runs, monkeypatch):
    pretrain(tmp_path)
    assert "Output directory is not empty" in pretrain(tmp_path)[1]
    monkeypatch.setenv("RANK", "1")  # the first process does it for all
    assert "not empty" not in pretrain(tmp_path)[1]


def test_a_resumed_run_needs_the_number_of_its_epoch(tmp_path, runs):
    (tmp_path / "best.bin").write_bytes(Linear(2, 3).to_bytes())
    code, output = pretrain(tmp_path, "--resume-path", tmp_path / "best.bin")
    assert code == 1 and "--epoch-resume" in output and not runs
    assert pretrain(tmp_path, "--resume-path", tmp_path / "best.bin", "--epoch-resume", 2)[0] == 0


@pytest.mark.parametrize("name, problem", [("pretrain_small", "system.seed"), ("pretrain_elmo", "nosectiontraining")])
def test_a_base_must_be_completed(tmp_path, runs, name, problem):
    base = BASES / f"{name}.cfg"
    command = ["pretrain", str(base), str(tmp_path / "out"), "--paths.raw_text", "text.txt"]
    result = CliRunner().invoke(lexner, command)
    printed = "".join(result.output.split())
    assert result.exit_code == 1 and f"init-configpretrain.cfg--base{base}" in printed and problem in printed
    assert not runs and not (tmp_path / "out").exists()
