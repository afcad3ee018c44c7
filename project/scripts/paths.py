"""Where things are, and where a file that someone names may be."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).parents[1]
CONFIGS = PROJECT.parent / "configs"
SPLITS = ("train", "dev", "test")
# Beside what is brought into assets/: the files of a data set of one's own, each with the MD5 it had.
SOURCES = "sources.json"


def find_input(name: str) -> Path:
    """Find a file or folder: where the command was typed, in the project's folder, or in the one above.

    name (str): Its path, absolute or relative.
    RETURNS (Path): Its absolute path. Raises FileNotFoundError where there is none, with the places.
    """
    path = Path(name).expanduser()
    folders = dict.fromkeys([Path(os.environ.get("PWD", PROJECT)), PROJECT, PROJECT.parent])
    for place in (folder / path for folder in folders):
        if place.exists() or any(parent.is_file() for parent in place.parents):  # a member of an archive
            return place.resolve()
    where = "" if path.is_absolute() else f" in {', '.join(map(str, folders))}"
    raise FileNotFoundError(f"There is no {name}{where}.")


def find_checkpoint(name: str) -> str:
    """RETURNS (str): The absolute path of a Hugging Face folder, looked for as `find_input` does, or else the name, as
    one of the hub."""
    try:
        return str(find_input(name))
    except FileNotFoundError:
        return name
