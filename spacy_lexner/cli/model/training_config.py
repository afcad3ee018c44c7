"""The config of a command that trains: a base, settings from the command line, and a lexicon for FLAT."""

import json
from pathlib import Path
from typing import Annotated, Any, Dict, List, Mapping, Optional, Sequence

import typer
from thinc.api import Config

from ...lexicon import Lexicon
from .make_config import complete, read_base

SetOption = Annotated[
    Optional[List[str]],
    typer.Option("--set", "-s", metavar="NAME=VALUE", help="A setting of the config; repeatable"),
]
CodeOption = Annotated[
    Optional[Path], typer.Option("--code", metavar="FILE", help="Python code with registered functions")
]


def training_config(name: str, values: Mapping[str, Any], output: Path) -> Config:
    """Make a complete config.

    name (str): A base of `configs/`, or a .cfg file.
    values (Mapping[str, Any]): Values to override, by dotted names. If they name no lexicon for the base `flat`, it
        gets an empty one in the folder `lexicon` of the output.
    output (Path): The output folder of the command.
    RETURNS (Config): The config. Raises ValueError if there is no such base.
    """
    from ...training.runs import set_values  # with torch

    values = dict(values)
    if name == "flat" and not values.get("paths.lexicon"):
        lexicon = output / "lexicon"
        if not lexicon.exists():
            Lexicon.from_entries([]).save(lexicon)
        values["paths.lexicon"] = str(lexicon)
    return complete(set_values(read_base(name), values))


def read_values(given: Sequence[str]) -> Dict[str, Any]:
    """Parse NAME=VALUE pairs; values that are not JSON are strings. Raises ValueError for anything else."""
    values: Dict[str, Any] = {}
    for pair in given:
        name, separator, value = pair.partition("=")
        if not (name and separator):
            raise ValueError(f"--set {pair}: expected NAME=VALUE, such as paths.lexicon=my_lexicon.")
        try:
            values[name] = json.loads(value)  # srsly's numbers are not exact
        except ValueError:
            values[name] = value
    return values
