import subprocess
import sys

import typer
from spacy.cli._util import app

from spacy_lexner.cli.app import lexner


def test_part_of_the_spacy_command():
    assert isinstance(lexner, typer.Typer)
    assert [group.name or group.typer_instance.info.name for group in app.registered_groups].count("lexner") == 1
    assert "convert" in [command.name for command in lexner.registered_commands]


def test_imports_neither_torch_nor_transformers():
    code = "import sys; sys.modules.update(torch=None, transformers=None); import spacy_lexner.cli.app"
    subprocess.run([sys.executable, "-c", code], check=True)
