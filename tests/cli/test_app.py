import subprocess
import sys

import pytest
import typer
from spacy.cli._util import app
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner


def test_part_of_the_spacy_command():
    assert isinstance(lexner, typer.Typer)
    assert [group.name or group.typer_instance.info.name for group in app.registered_groups].count("lexner") == 1
    assert "convert" in [command.name for command in lexner.registered_commands]


def test_help_shows_every_command_in_a_section_with_its_whole_first_sentence():
    shown = CliRunner().invoke(lexner, ["--help"]).output
    headings = [line.rstrip(":") for line in shown.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["Options", "Data", "Training", "Trained pipelines", "Other formats", "Lexicons and rules"]
    assert "..." not in shown.partition("Options:")[2]
    commands = typer.main.get_command(lexner).commands
    listed = {line.split()[0] for line in shown.splitlines() if line.startswith("  ") and line[2:3].isalpha()}
    assert set(commands) <= listed


@pytest.mark.parametrize("group", ["import", "lexicon", "rules", "words"])
def test_groups_within_show_whole_sentences_too(group):
    shown = CliRunner().invoke(lexner, [group, "--help"]).output
    assert "Commands:" in shown
    assert "..." not in shown.partition("Commands:")[2]


def test_imports_neither_torch_nor_transformers():
    code = "import sys; sys.modules.update(torch=None, transformers=None); import spacy_lexner.cli.app"
    subprocess.run([sys.executable, "-c", code], check=True)
