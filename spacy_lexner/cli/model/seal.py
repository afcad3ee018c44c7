"""`spacy lexner seal`: record the files of a saved pipeline as they are."""

from typing import Annotated

import typer
from wasabi import msg

from ...integrity.pipelines import seal_pipeline
from ..shared import failing, status
from .verify import find_folder


def seal_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline, by folder or name of a package")],
) -> None:
    """Write checksums of all files of a saved pipeline; `lexner verify` and the loading of our components compare them.
    Run it after `nlp.to_disk` or `spacy package`, after editing a file, and for pipelines from before checksums.

    \b
    Example:
      python -m spacy lexner seal training/model-best
    """
    with failing("The pipeline was not sealed"):
        folder = find_folder(model)
        with status(f"reading {folder}"):
            n_files = seal_pipeline(folder)
    msg.good(f"{folder}: {n_files} files sealed, in addition to those of components and lexicons")
