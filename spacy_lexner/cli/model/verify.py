"""`spacy lexner verify`: check that a saved pipeline is, byte for byte, the one that was sealed."""

from pathlib import Path
from typing import Annotated

import srsly
import typer
from spacy.util import get_package_path, is_package
from wasabi import msg

from ...integrity.pipelines import verify_pipeline
from ...integrity.seal import SealError
from ..shared import JsonOption, failing, status


def verify_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline, by folder or name of a package")],
    as_json: JsonOption = False,
) -> None:
    """Compare every byte of a saved pipeline with its checksums: spaCy's own files and the whole lexicon too.

    The checksums are those of `spacy_lexner.save` and of `lexner seal`, `train`, `weak`, `distil`, `calibrate`,
    `combine` and `quantize`. Nothing is loaded or run.

    The exit code is 1 if a file is missing, damaged, swapped, not sealed, or a link out of the folder.

    \b
    Example:
      python -m spacy lexner verify training/model-best
    """
    with failing("The pipeline cannot be verified"):
        folder = find_folder(model)
        with status(f"reading {folder}"):
            problems = list(verify_pipeline(folder))
    if as_json:
        typer.echo(srsly.json_dumps({"model": str(folder), "ok": not problems, "problems": problems}))
    elif problems:
        msg.fail(f"{folder}: {len(problems)} problems", "\n".join(problems))
    else:
        msg.good(f"{folder}: every file is as it was sealed")
    if problems:
        raise typer.Exit(1)


def find_folder(model: str) -> Path:
    """RETURNS (Path): The folder of a pipeline. Raises SealError if there is none by this name."""
    path = Path(model)
    if path.is_dir():
        return path
    if not is_package(model):
        raise SealError(f"{model}: expected the folder or the package of a pipeline, and found neither.")
    package = get_package_path(model)
    folders = [config.parent for config in sorted(package.glob("*/config.cfg"))]
    return folders[0] if folders else package
