"""The command group `python -m spacy lexner lexicon`: everything that is done to a lexicon in a folder."""

import typer

from .build import build_cli
from .change import add_cli, remove_cli
from .diff import diff_cli
from .info import info_cli
from .lookup import lookup_cli
from .merge import merge_cli
from .prune import prune_cli
from .verify import verify_cli

HELP = "Build, look into and change lexicons: folders of words with vectors, weights, labels and entity ids."

lexicon = typer.Typer(name="lexicon", help=HELP, no_args_is_help=True, rich_markup_mode=None)
lexicon.command("build", no_args_is_help=True)(build_cli)
lexicon.command("info", no_args_is_help=True)(info_cli)
lexicon.command("lookup", no_args_is_help=True)(lookup_cli)
lexicon.command("add", no_args_is_help=True)(add_cli)
lexicon.command("remove", no_args_is_help=True)(remove_cli)
lexicon.command("merge", no_args_is_help=True)(merge_cli)
lexicon.command("prune", no_args_is_help=True)(prune_cli)
lexicon.command("diff", no_args_is_help=True)(diff_cli)
lexicon.command("verify", no_args_is_help=True)(verify_cli)
