"""The config of a command that trains: a base, settings from the command line, and a lexicon for FLAT."""

import json
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Dict, Iterable, List, Mapping, Optional, Sequence

import typer
from thinc.api import Config

from ...lexicon import Lexicon
from .make_config import complete, read_base

ConfigOption = Annotated[
    str, typer.Option("--config", "-c", metavar="CONFIG", help="What is trained: a base of configs/ or a file")
]
DevOption = Annotated[
    Optional[Path], typer.Option("--dev", metavar="FILE", help="Annotated texts to select and calibrate models on")
]
LabelledOption = Annotated[
    Optional[Path], typer.Option("--labelled", "-l", metavar="FILE", help="Annotated texts to learn from as well")
]
LimitOption = Annotated[int, typer.Option("--limit", help="Learn from at most this many texts", min=1)]
SetOption = Annotated[
    Optional[List[str]],
    typer.Option("--set", "-s", metavar="NAME=VALUE", help="A setting of the config; repeatable"),
]
CodeOption = Annotated[
    Optional[Path], typer.Option("--code", metavar="FILE", help="Python code with registered functions")
]
CLOSED = ("", "nlp", "paths", "system", "training")  # sections in which spaCy ignores unknown names


def training_config(name: str, values: Mapping[str, Any], output: Path) -> Config:
    """Make a complete config.

    name (str): A base of `configs/`, or a .cfg file.
    values (Mapping[str, Any]): Values to override, by dotted names. If they name no lexicon for the base `flat`, it
        gets an empty one in the folder `lexicon` of the output.
    output (Path): The output folder of the command.
    RETURNS (Config): The config. Raises ValueError if there is no such base or setting.
    """
    from ...training.runs import set_values  # with torch

    base = read_base(name)
    if values:
        check_names(complete(base), values)
    values = dict(values)
    if name == "flat" and not values.get("paths.lexicon"):
        lexicon = output / "lexicon"
        if not lexicon.exists():
            Lexicon.from_entries([]).save(lexicon)
        values["paths.lexicon"] = str(lexicon)
    return complete(set_values(base, values))


def check_names(config: Config, names: Iterable[str]) -> None:
    """Raise ValueError for dotted names whose section a complete config lacks, and for unknown names where nothing else
    would notice them."""
    for name in names:
        block: Any = config
        *sections, key = name.split(".")
        for i, part in enumerate([*sections, key]):
            if block is None:  # a section that is switched off
                break
            place, own = ".".join(sections[:i]), block if isinstance(block, dict) else {}
            may_be_new = i == len(sections) and place not in CLOSED and own is block
            if part not in own and not may_be_new:
                near = get_close_matches(part, own, n=1)
                hint = f" Did you mean {'.'.join([*sections[:i], *near])}?" if near else ""
                raise ValueError(
                    f"The config has no setting {name}: there is no {f'{place}.{part}'.lstrip('.')}.{hint}"
                )
            block = own.get(part)


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
