import json

import pytest
import spacy
from lebert_files import Files
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner


@pytest.mark.parametrize("command", ["lebert", "elmo", "ernie"])
def test_help_has_an_example(command):
    result = CliRunner().invoke(lexner, ["import", command, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output and f"python -m spacy lexner import {command} " in result.output


def import_elmo(*arguments):
    return CliRunner().invoke(lexner, ["import", "elmo", *map(str, arguments)])


def test_official_files_become_a_checkpoint(fixtures_dir, tmp_path):
    folder = fixtures_dir / "elmo"
    result = import_elmo(folder / "options.json", folder / "weights.hdf5", tmp_path / "elmo")
    assert result.exit_code == 0, result.output
    output = " ".join(result.output.split())
    assert "2 layers of 24, projected to 16" in output and "32 wide" in output
    assert (tmp_path / "elmo" / "model.safetensors").is_file()
    assert import_elmo(folder / "options.json", folder / "weights.hdf5", tmp_path / "elmo").exit_code == 1


def test_wrong_files_are_an_error_without_a_traceback(fixtures_dir, tmp_path):
    options = json.loads((fixtures_dir / "elmo" / "options.json").read_text("utf8"))
    options["lstm"]["dim"] = 25
    (tmp_path / "options.json").write_text(json.dumps(options), "utf8")
    for arguments in (
        (tmp_path / "options.json", fixtures_dir / "elmo" / "weights.hdf5"),
        (tmp_path / "missing.json", fixtures_dir / "elmo" / "weights.hdf5"),
    ):
        result = import_elmo(*arguments, tmp_path / "elmo")
        assert result.exit_code == 1 and "Nothing was written" in result.output
        assert not (tmp_path / "elmo").exists()


@pytest.fixture
def files(tmp_path, fixtures_dir):
    return Files(tmp_path / "original", fixtures_dir)


def import_lebert(files, target, *options):
    arguments = [files.checkpoint, "--bert", files.bert, "--labels", files.labels, "--lexicon", files.lexicon]
    result = CliRunner().invoke(lexner, ["import", "lebert", *map(str, [*arguments, "-o", target, *options])])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


def test_a_lebert_becomes_a_pipeline(files, tmp_path):
    options = ["--word-vocab", files.word_vocab, "--max-word-num", 3]
    code, output = import_lebert(files, tmp_path / "lebert", *options)
    assert code == 0 and "a pipeline with the labels LOC, PER" in output
    assert spacy.load(tmp_path / "lebert")(files.texts[0]).ents
    assert import_lebert(files, tmp_path / "lebert", *options)[0] == 1
    assert import_lebert(files, tmp_path / "lebert", "--force", *options)[0] == 0


def test_what_is_wrong_is_said_without_a_traceback(files, tmp_path):
    code, output = import_lebert(files, tmp_path / "lebert")
    assert code == 1 and "Nothing was written" in output and "give the word_vocab.txt" in output
    files.checkpoint.write_bytes(b"no weights")
    assert import_lebert(files, tmp_path / "lebert", "--word-vocab", files.word_vocab)[0] == 1
    assert not (tmp_path / "lebert").exists()
