import pytest
import spacy
import srsly
from small_training import make_texts, save_config, save_docs

from spacy_lexner.cli.model.make_config import complete, read_base
from spacy_lexner.training import loop
from spacy_lexner.training.runs import set_values, train_once


@pytest.fixture
def config(tmp_path):
    data = str(save_docs(tmp_path / "data.spacy", make_texts(20)))
    values = {"paths.train": data, "paths.dev": data, "training.max_steps": 4, "training.eval_frequency": 2}
    return complete(set_values(read_base(str(save_config(tmp_path / "config.cfg"))), values))


def test_a_training_is_done_once(config, tmp_path):
    best = train_once(config, tmp_path / "run")
    assert spacy.load(best).get_pipe("lex_ner").labels == ("LOC", "PER")
    before = (best / "meta.json").stat().st_mtime_ns
    assert train_once(config, tmp_path / "run") == best and (best / "meta.json").stat().st_mtime_ns == before
    assert len(list(srsly.read_jsonl(tmp_path / "run" / "log.jsonl"))) == 3  # steps 0, 2, 4


def test_the_log_is_not_part_of_the_pipeline(config, tmp_path):
    best = train_once(config, tmp_path / "run")
    assert (tmp_path / "run" / "log.jsonl").is_file()
    assert spacy.load(best).config["training"]["logger"] == config["training"]["logger"]


def test_an_interrupted_training_goes_on(config, tmp_path, monkeypatch):
    config = set_values(config, {"training.dropout": 0.3, "training.optimizer.eps": 1e-12})  # srsly reads others
    whole = train_once(config, tmp_path / "whole")
    write, calls = loop.write_checkpoint, []

    def interrupted(*arguments):
        write(*arguments)
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(loop, "write_checkpoint", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_once(config, tmp_path / "cut")
    cut = train_once(config, tmp_path / "cut")
    models = [(folder.parent / "model-last" / "lex_ner" / "model").read_bytes() for folder in (whole, cut)]
    assert models[0] == models[1]
    logs = [list(srsly.read_jsonl(folder.parent / "log.jsonl")) for folder in (whole, cut)]
    assert [line["step"] for line in logs[0]] == [0, 2, 4] and logs[0] == logs[1]


def test_another_config_is_refused(config, tmp_path):
    train_once(config, tmp_path / "run")
    with pytest.raises(ValueError, match="holds a run with another config"):
        train_once(set_values(config, {"training.max_steps": 5}), tmp_path / "run")


def test_a_finished_run_without_its_pipeline_is_refused(config, tmp_path):
    train_once(config, tmp_path / "run").rename(tmp_path / "moved")
    with pytest.raises(ValueError, match="holds a finished run, but its model-best is gone"):
        train_once(config, tmp_path / "run")


def test_a_damaged_note_of_a_finished_run_is_named(config, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "done.json").write_text('{"config": "12', "utf8")
    with pytest.raises(ValueError, match=r"done\.json: not JSON, or damaged"):
        train_once(config, tmp_path / "run")


def test_values_make_and_replace_sections(config):
    changed = set_values(config, {"training.optimizer": {"@optimizers": "SGD.v1"}, "new.part.x": 1})
    assert changed["training"]["optimizer"] == {"@optimizers": "SGD.v1"} and changed["new"]["part"]["x"] == 1
    assert config["training"]["optimizer"]["@optimizers"] == "Adam.v1" and "new" not in config
