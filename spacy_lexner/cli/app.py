"""The command group `python -m spacy lexner`, which spaCy finds through its entry point `spacy_cli`."""

import typer
from spacy.cli._util import app

from .convert import convert_cli
from .export_hf import export_hf_cli

HELP = "Commands of spacy-lexner: entities of Chinese texts with a lexicon."

lexner = typer.Typer(name="lexner", help=HELP, no_args_is_help=True, rich_markup_mode=None)
lexner.command("convert", no_args_is_help=True)(convert_cli)
lexner.command("export-hf", no_args_is_help=True)(export_hf_cli)


@lexner.callback()
def group() -> None:
    """Commands of spacy-lexner: entities of Chinese texts with a lexicon."""


app.add_typer(lexner)
