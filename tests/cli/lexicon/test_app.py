import pytest

COMMANDS = ["build", "info", "lookup", "add", "remove", "merge", "prune", "diff", "verify"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(run, command):
    code, output = run(command, "--help")
    assert code == 0
    assert "Example" in output and f"python -m spacy lexner lexicon {command} " in output


@pytest.mark.parametrize("command", COMMANDS)
def test_a_lexicon_that_is_not_there(run, tmp_path, command):
    arguments = {
        "build": [tmp_path / "out", tmp_path / "none.txt"],
        "merge": [tmp_path / "out", tmp_path / "none"],
        "prune": [tmp_path / "none", tmp_path / "out", "--corpus", tmp_path],
        "diff": [tmp_path / "none", tmp_path / "none"],
        "lookup": [tmp_path / "none", "南京"],
        "add": [tmp_path / "none", "南京"],
        "remove": [tmp_path / "none", "南京"],
    }
    code, output = run(command, *arguments.get(command, [tmp_path / "none"]))
    assert code == (2 if command in ("diff", "lookup") else 1)
    assert str(tmp_path / "none") in output and not (tmp_path / "out").exists()
