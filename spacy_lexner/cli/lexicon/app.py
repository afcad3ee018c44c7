"""The command group `python -m spacy lexner lexicon`: building, inspecting and changing lexicons in folders."""

from typing import Callable, Dict

from ..sections import make_group
from .build import build_cli
from .change import add_cli, remove_cli
from .diff import diff_cli
from .info import info_cli
from .lookup import lookup_cli
from .merge import merge_cli
from .prune import prune_cli
from .verify import verify_cli

HELP = "Build, inspect and change lexicons: folders of words with vectors, weights, labels and entity ids."
COMMANDS: Dict[str, Callable[..., None]] = {
    "build": build_cli,
    "info": info_cli,
    "lookup": lookup_cli,
    "add": add_cli,
    "remove": remove_cli,
    "merge": merge_cli,
    "prune": prune_cli,
    "diff": diff_cli,
    "verify": verify_cli,
}

lexicon = make_group("lexicon", HELP)
for name, command in COMMANDS.items():
    lexicon.command(name, no_args_is_help=True)(command)
