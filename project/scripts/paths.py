"""The project's folders, and how a file named by the user is found."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).parents[1]
CONFIGS = PROJECT.parent / "configs"
SPLITS = ("train", "dev", "test")
# In the assets/ folder of the user's own data set: its files, each with its MD5 at the time.
SOURCES = "sources.json"


def find_input(name: str) -> Path:
    """Find a file or folder: in the folder where the command was typed, in the project's, or in the one above.

    name (str): Its path, absolute or relative.
    RETURNS (Path): Its absolute path. Raises FileNotFoundError, which lists these folders, if there is none.
    """
    path = Path(name).expanduser()
    folders = dict.fromkeys([Path(os.environ.get("PWD", PROJECT)), PROJECT, PROJECT.parent])
    for place in (folder / path for folder in folders):
        if place.exists() or any(parent.is_file() for parent in place.parents):  # a member of an archive
            return place.resolve()
    where = "" if path.is_absolute() else f" in {', '.join(map(str, folders))}"
    raise FileNotFoundError(f"There is no {name}{where}.")


def find_checkpoint(name: str) -> str:
    """RETURNS (str): The absolute path of a Hugging Face folder, if `find_input` finds it, otherwise the name itself,
    as one on the hub."""
    try:
        return str(find_input(name))
    except FileNotFoundError:
        return name
