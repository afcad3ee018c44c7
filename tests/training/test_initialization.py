"""Weights of `initialize.init_tok2vec` that are no good stop a training with an error that names the file."""

import pytest
from small_training import make_texts, save_config, save_docs
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.cli.model.make_config import complete, read_base
from spacy_lexner.training.runs import set_values, train_once


@pytest.fixture
def config(tmp_path):
    data = str(save_docs(tmp_path / "data.spacy", make_texts(20)))
    weights = tmp_path / "cut.bin"
    weights.write_bytes(b"\x82\xa5nodes")
    values = {"paths.train": data, "paths.dev": data, "initialize.init_tok2vec": str(weights)}
    return complete(set_values(read_base(str(save_config(tmp_path / "config.cfg"))), values))


def test_the_file_is_named(config, tmp_path):
    with pytest.raises(ValueError, match=r"cut\.bin is not a model file, or is incomplete"):
        train_once(config, tmp_path / "run")


@pytest.mark.parametrize("name, problem", [("cut.bin", "is not a model file"), ("none.bin", "No such file")])
def test_the_command_names_it(config, tmp_path, name, problem):
    config.to_disk(tmp_path / "config.cfg")
    options = ["--output", str(tmp_path / "run"), "--initialize.init_tok2vec", str(tmp_path / name)]
    result = CliRunner().invoke(lexner, ["train", str(tmp_path / "config.cfg"), *options])
    output = "".join(result.output.split())
    assert result.exit_code == 1 and name in output and "".join(problem.split()) in output
