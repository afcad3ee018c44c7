import pytest
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner


@pytest.mark.parametrize("command", ["lebert", "elmo", "ernie"])
def test_help_has_an_example(command):
    result = CliRunner().invoke(lexner, ["import", command, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output and f"python -m spacy lexner import {command} " in result.output
