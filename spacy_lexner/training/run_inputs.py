"""The inputs of a run, which must not change when it is continued after an interruption."""

from hashlib import sha256
from pathlib import Path
from typing import Any, Iterable, List, Sequence

from ..integrity.json_files import read_json, write_json
from .digests import digest_path

SETTINGS = "settings.json"


def begin(output: Path, source: str, steps: Sequence[str], parts: Sequence[Any]) -> None:
    """Begin or continue a run: note its inputs in `settings.json`, before anything else is written. Raises ValueError
    if the folder holds a run with other inputs, or what no run has written.

    output (Path): The folder of the run.
    source (str): What the run depends on besides texts and settings, for the message, such as "dictionary".
    steps (Sequence[str]): The names of what the run writes there. If there is none of it, any inputs may be noted.
    parts (Sequence[Any]): The inputs, of which the `repr` counts; of files the names and contents.
    """
    stable = [list_files([part]) if isinstance(part, Path) else part for part in parts]
    settings = {"hash": sha256(repr(stable).encode("utf8", "replace")).hexdigest()}
    file, found = output / SETTINGS, [name for name in steps if (output / name).exists()]
    if not found:
        write_json(file, settings)
    elif not file.is_file():
        raise ValueError(
            f"{output} holds {', '.join(found)}, but no {SETTINGS}, so no run has written that. Choose another folder, "
            "or move these files."
        )
    elif read_json(file) != settings:
        raise ValueError(
            f"{output} holds a run with another {source}, other texts or other settings. Choose another folder, or "
            "delete this one to start again."
        )


def list_files(paths: Iterable[Path]) -> List[str]:
    """RETURNS (List[str]): The name and a hash of each file, also of those in folders and of an archive whose member is
    named; missing ones are left out."""
    found = []
    for path in paths:
        path = next((each for each in (path, *path.parents) if each.is_file()), path)
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        found += [f"{file.relative_to(path.parent)} {digest_path(file)}" for file in files if file.is_file()]
    return found
