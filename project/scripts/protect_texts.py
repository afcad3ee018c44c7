"""Bring and convert the data sets whose dev and test splits no model may be pretrained on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, List

import typer
from check_overlap import SPLITS
from split_dataset import DATASETS
from wasabi import msg

SCRIPTS = Path("scripts")


def commands(name: str, corpus: Path, data_dir: str) -> List[List[str]]:
    """What the commands `fetch` and `convert` of the project do.

    name (str): Data set.
    corpus (Path): Folder of the converted data sets.
    data_dir (str): Folder to copy from before the network is tried; empty for none.
    RETURNS (List[List[str]]): Arguments of Python, one list for each command.
    """
    original = str(corpus / name / "original")
    return [
        [str(SCRIPTS / "fetch_assets.py"), name, "--data-dir", data_dir],
        ["-m", "spacy", "lexner", "convert", f"assets/{name}", original, "--repair"],
        [str(SCRIPTS / "split_dataset.py"), name, original, str(corpus / name)],
    ]


def main(
    names: Annotated[str, typer.Argument(help="Data sets, separated by spaces.")],
    corpus: Annotated[Path, typer.Option(help="Folder of the converted data sets.")] = Path("corpus"),
    data_dir: Annotated[str, typer.Option(help="Folder to copy from; empty for none.")] = "",
) -> None:
    """Convert the data sets that are not there yet."""
    if unknown := sorted(set(names.split()) - set(DATASETS)):
        msg.fail(f"Unknown data set '{unknown[0]}'", f"Known are {', '.join(DATASETS)}.", exits=1)
    for name in names.split():
        if all((corpus / name / f"{split}.spacy").is_file() for split in SPLITS):
            msg.good(f"{name} is there")
            continue
        for command in commands(name, corpus, data_dir):
            if subprocess.run([sys.executable, *command], check=False).returncode:
                msg.fail(
                    f"The dev and test splits of {name} are not there, so no text can be compared with them",
                    "If you will never evaluate on it, leave it out of vars.protected.",
                    exits=1,
                )


if __name__ == "__main__":
    typer.run(main)
