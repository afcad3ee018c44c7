"""The command group `python -m spacy lexner rules`: try a dictionary's rules before putting them to use."""

from ..sections import make_group
from .diff import diff_cli
from .test import test_cli

HELP = "Test the rules of a dictionary, and see which entities of a corpus they change."

rules = make_group("rules", HELP)
rules.command("test", no_args_is_help=True)(test_cli)
rules.command("diff", no_args_is_help=True)(diff_cli)
