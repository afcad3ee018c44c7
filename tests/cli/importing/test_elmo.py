import json

from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner


def run(*arguments):
    return CliRunner().invoke(lexner, ["import", "elmo", *map(str, arguments)])


def test_official_files_become_a_checkpoint(fixtures_dir, tmp_path):
    folder = fixtures_dir / "elmo"
    result = run(folder / "options.json", folder / "weights.hdf5", tmp_path / "elmo")
    assert result.exit_code == 0, result.output
    output = " ".join(result.output.split())
    assert "2 layers of 24, projected to 16" in output and "32 wide" in output
    assert (tmp_path / "elmo" / "model.safetensors").is_file()
    assert run(folder / "options.json", folder / "weights.hdf5", tmp_path / "elmo").exit_code == 1


def test_wrong_files_are_an_error_without_a_traceback(fixtures_dir, tmp_path):
    options = json.loads((fixtures_dir / "elmo" / "options.json").read_text("utf8"))
    options["lstm"]["dim"] = 25
    (tmp_path / "options.json").write_text(json.dumps(options), "utf8")
    for arguments in (
        (tmp_path / "options.json", fixtures_dir / "elmo" / "weights.hdf5"),
        (tmp_path / "missing.json", fixtures_dir / "elmo" / "weights.hdf5"),
    ):
        result = run(*arguments, tmp_path / "elmo")
        assert result.exit_code == 1 and "Nothing was written" in result.output
        assert not (tmp_path / "elmo").exists()
