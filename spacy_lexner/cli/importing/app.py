"""The command group `python -m spacy lexner import`: published checkpoints, in our own formats."""

import typer

from .elmo import import_elmo_cli
from .ernie import import_ernie_cli
from .lebert import import_lebert_cli

HELP = "Import published checkpoints: a LEBERT as a pipeline, an ELMo or an ERNIE as a folder for `checkpoint`."

importing = typer.Typer(name="import", help=HELP, no_args_is_help=True, rich_markup_mode=None)
importing.command("lebert", no_args_is_help=True)(import_lebert_cli)
importing.command("elmo", no_args_is_help=True)(import_elmo_cli)
importing.command("ernie", no_args_is_help=True)(import_ernie_cli)
