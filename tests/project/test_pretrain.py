"""What `scripts/pretrain.py` runs, and that a run resumes from the last complete file."""

import pretrain
import pytest
import srsly


@pytest.fixture
def commands(monkeypatch):
    noted = []
    monkeypatch.setattr(pretrain, "run", noted.append)
    return noted


def options(command):
    return {command[i].lstrip("-"): command[i + 1] for i in range(3, len(command), 2)}


@pytest.mark.parametrize("name", ["small", "base"])
def test_pretrain_then_export(project_dir, tmp_path, commands, name):
    config = project_dir.parent / "configs" / f"pretrain_{name}.cfg"
    pretrain.main(config, tmp_path / "text", tmp_path / "out", tmp_path / "bert", steps=2500, lexicon=tmp_path, seed=4)
    (run, export), settings = commands, options(commands[0])
    assert run[:3] == ["pretrain", str(tmp_path / "out.cfg"), str(tmp_path / "out")]
    assert settings["pretraining.max_epochs"] == "3" and settings["pretraining.batcher.n_batches"] == "834"
    assert settings["pretraining.optimizer.learn_rate.total_steps"] == "2502"
    assert settings["system.seed"] == "4" and settings["gpu-id"] == "-1"
    assert not any("lexicon" in name or "vectors" in name for name in settings)
    assert export == ["lexner", "export-hf", str(tmp_path / "out/model-last.bin"), str(tmp_path / "bert"), "--force"]


def test_more_settings(project_dir, tmp_path, commands):
    config = project_dir.parent / "configs" / "pretrain_small.cfg"
    more = "--pretraining.objective.share 0.4 --pretraining.batcher.batcher.max_tokens=4096"
    pretrain.main(config, tmp_path / "text", tmp_path / "out", tmp_path / "bert", options=more)
    assert commands[0][-3:] == ["--pretraining.objective.share", "0.4", "--pretraining.batcher.batcher.max_tokens=4096"]


def test_vectors_to_start_from(project_dir, tmp_path, commands):
    config = project_dir.parent / "configs" / "pretrain_small.cfg"
    pretrain.main(config, tmp_path / "text", tmp_path / "out", tmp_path / "bert", vectors="vectors/chars.vec")
    assert options(commands[0])["components.tok2vec.model.piece_vectors"] == "vectors/chars.vec"


@pytest.mark.parametrize("name, masking", [("small", "whole_word"), ("small", "ngram"), ("ernie", "piece")])
def test_words_and_entities_come_from_a_lexicon(project_dir, tmp_path, commands, capsys, name, masking):
    config = project_dir.parent / "configs" / f"pretrain_{name}.cfg"
    arguments = (config, tmp_path / "text", tmp_path / "out", tmp_path / "bert")
    with pytest.raises(SystemExit):
        pretrain.main(*arguments, masking=masking, lexicon=tmp_path / "none")
    assert "There is no lexicon" in capsys.readouterr().out and not commands
    pretrain.main(*arguments, masking=masking, lexicon=tmp_path)
    setting = "paths.lexicon" if name == "ernie" else "pretraining.objective.lexicon"
    assert options(commands[0])[setting] == str(tmp_path)
    assert options(commands[0])["pretraining.objective.masking"] == masking


def test_a_run_goes_on_from_the_last_whole_file(project_dir, tmp_path, commands, capsys):
    config = project_dir.parent / "configs" / "pretrain_small.cfg"
    whole = srsly.msgpack_dumps({"nodes": list(range(100))})
    for number, content in enumerate([whole, whole, whole[:50]]):
        (tmp_path / f"model{number}.bin").write_bytes(content)
    assert pretrain.last_checkpoint(tmp_path) == tmp_path / "model1.bin"
    assert "model2.bin was not saved completely" in " ".join(capsys.readouterr().out.split())
    arguments = (config, tmp_path / "text", tmp_path, tmp_path / "bert")
    with pytest.raises(SystemExit):
        pretrain.main(*arguments)
    pretrain.main(*arguments, resume=True)
    assert options(commands[0])["resume-path"] == str(tmp_path / "model1.bin")
