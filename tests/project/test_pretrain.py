"""What `scripts/pretrain.py` runs, and with which config."""

import pretrain
import pretraining_run
import pytest
from spacy.util import dict_to_dot, load_config
from thinc.api import Linear


@pytest.fixture
def commands(monkeypatch):
    noted = []
    for module in (pretrain, pretraining_run):
        monkeypatch.setattr(module, "run_spacy", noted.append)
    return noted


def settings_of(command):
    return dict_to_dot(load_config(command[1]))


@pytest.mark.parametrize("name", ["small", "base"])
def test_pretrain_then_export(project_dir, tmp_path, commands, name):
    config = project_dir.parent / "configs" / f"pretrain_{name}.cfg"
    pretrain.main(config, tmp_path / "text", tmp_path / "out", tmp_path / "bert", steps=2500, lexicon=tmp_path, seed=4)
    (run, export), settings = commands, settings_of(commands[0])
    assert run == ["pretrain", str(tmp_path / "out.cfg"), str(tmp_path / "out"), "--gpu-id", "-1"]
    assert settings["pretraining.max_epochs"] == 3 and settings["pretraining.batcher.n_batches"] == 834
    assert settings["pretraining.optimizer.learn_rate.total_steps"] == 2502
    assert settings["pretraining.objective.total_updates"] == 2502 and settings["system.seed"] == 4
    assert settings["paths.raw_text"] == str(tmp_path / "text")
    assert not settings.keys() & {"pretraining.objective.lexicon", "paths.lexicon"}
    assert not settings.get("components.tok2vec.model.piece_vectors")
    assert export == ["lexner", "export-hf", str(tmp_path / "out/model-last.bin"), str(tmp_path / "bert"), "--force"]


def test_more_settings(project_dir, tmp_path, commands):
    config = project_dir.parent / "configs" / "pretrain_small.cfg"
    more = "--pretraining.objective.share 0.4 --pretraining.batcher.batcher.max_tokens=4096"
    pretrain.main(config, tmp_path / "text", tmp_path / "out", tmp_path / "bert", options=more)
    settings = settings_of(commands[0])
    assert settings["pretraining.objective.share"] == 0.4
    assert settings["pretraining.batcher.batcher.max_tokens"] == 4096


def test_vectors_to_start_from(project_dir, tmp_path, commands):
    config = project_dir.parent / "configs" / "pretrain_small.cfg"
    pretrain.main(config, tmp_path / "text", tmp_path / "out", tmp_path / "bert", vectors="vectors/chars.vec")
    assert settings_of(commands[0])["components.tok2vec.model.piece_vectors"] == "vectors/chars.vec"


@pytest.mark.parametrize("name, masking", [("small", "whole_word"), ("small", "ngram"), ("ernie", "piece")])
def test_words_and_entities_come_from_a_lexicon(project_dir, tmp_path, commands, capsys, name, masking):
    config = project_dir.parent / "configs" / f"pretrain_{name}.cfg"
    arguments = (config, tmp_path / "text", tmp_path / "out", tmp_path / "bert")
    with pytest.raises(SystemExit):
        pretrain.main(*arguments, masking=masking, lexicon=tmp_path / "none")
    assert "There is no lexicon" in capsys.readouterr().out and not commands
    pretrain.main(*arguments, masking=masking, lexicon=tmp_path)
    setting = "paths.lexicon" if name == "ernie" else "pretraining.objective.lexicon"
    assert settings_of(commands[0])[setting] == str(tmp_path)
    assert settings_of(commands[0])["pretraining.objective.masking"] == masking


def test_a_run_goes_on_where_it_was_stopped_and_is_exported_if_it_is_finished(project_dir, tmp_path, commands):
    config = project_dir.parent / "configs" / "pretrain_small.cfg"
    (tmp_path / "out").mkdir()

    def start(epoch, **more):
        pretrain.main(config, tmp_path / "text", tmp_path / "out", tmp_path / "bert", steps=2000, **more)
        (tmp_path / "out" / "config.cfg").write_bytes((tmp_path / "out.cfg").read_bytes())  # as spaCy does
        (tmp_path / "out" / f"model{epoch}.bin").write_bytes(Linear(2, 3).to_bytes())

    start(0)
    with pytest.raises(SystemExit):
        start(1)
    with pytest.raises(SystemExit):
        start(1, resume=True, seed=7)
    assert len(commands) == 2
    start(1, resume=True)
    start(1, resume=True)
    assert commands[2][-2:] == ["--resume-path", str(tmp_path / "out" / "model0.bin")]
    assert [command[0] for command in commands[3:]] == ["lexner", "lexner"]
