"""The command group `python -m spacy lexner`, which spaCy finds through its entry point `spacy_cli`."""

import typer
from spacy.cli._util import app

from .data.convert import convert_cli
from .data.count_words import count_words_cli
from .data.export import export_cli
from .data.vectors import vectors_cli
from .importing.app import importing
from .lexicon.app import lexicon
from .model.calibrate import calibrate_cli
from .model.combine import combine_cli
from .model.export_hf import export_hf_cli
from .model.init_config import init_config_cli
from .model.lattice import lattice_cli
from .model.perplexity import perplexity_cli
from .model.report import report_cli
from .model.uncertain import uncertain_cli

HELP = "Commands of spacy-lexner: entities of Chinese texts with a lexicon."

OVERRIDES = {"allow_extra_args": True, "ignore_unknown_options": True}

lexner = typer.Typer(name="lexner", help=HELP, no_args_is_help=True, rich_markup_mode=None)
lexner.command("calibrate", no_args_is_help=True)(calibrate_cli)
lexner.command("combine", no_args_is_help=True)(combine_cli)
lexner.command("convert", no_args_is_help=True)(convert_cli)
lexner.command("export", no_args_is_help=True)(export_cli)
lexner.command("export-hf", no_args_is_help=True)(export_hf_cli)
lexner.command("count-words", no_args_is_help=True)(count_words_cli)
lexner.add_typer(importing)
lexner.add_typer(lexicon)
lexner.command("init-config", no_args_is_help=True)(init_config_cli)
lexner.command("lattice", no_args_is_help=True)(lattice_cli)
lexner.command("perplexity", no_args_is_help=True, context_settings=OVERRIDES)(perplexity_cli)
lexner.command("report", no_args_is_help=True)(report_cli)
lexner.command("uncertain", no_args_is_help=True)(uncertain_cli)
lexner.command("vectors", no_args_is_help=True)(vectors_cli)


@lexner.callback()
def group() -> None:
    """Commands of spacy-lexner: entities of Chinese texts with a lexicon."""


app.add_typer(lexner)
