"""Fetch and convert the data sets whose dev and test splits no model may be pretrained on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import convert_dataset
import fetch_assets
import typer
from convert_dataset import DATASETS
from paths import PROJECT, SPLITS
from wasabi import msg


def main(
    names: Annotated[str, typer.Argument(help="Data sets, separated by spaces.")],
    corpus: Annotated[Path, typer.Option(help="Folder of the converted data sets.")] = PROJECT / "corpus",
    data_dir: Annotated[str, typer.Option(help="Folder to copy from; empty for none.")] = "",
) -> None:
    """Fetch and convert the data sets that are not converted yet."""
    if unknown := sorted(set(names.split()) - set(DATASETS)):
        msg.fail(f"Unknown data set '{unknown[0]}'", f"Known are {', '.join(DATASETS)}.", exits=1)
    for name in names.split():
        if all((corpus / name / f"{split}.spacy").is_file() for split in SPLITS):
            msg.good(f"{name} is already there")
            continue
        try:
            fetch_assets.main(name, data_dir=data_dir)
            convert_dataset.main(name, corpus=corpus)
        except (SystemExit, typer.Exit):
            msg.fail(
                f"The dev and test splits of {name} are missing",
                "If you will never evaluate on it, leave it out of vars.protected (in `reproduce`: vars.datasets).",
                exits=1,
            )


if __name__ == "__main__":
    typer.run(main)
