"""The inputs of a run, which must not change when it is continued after an interruption."""

from hashlib import sha256
from pathlib import Path
from typing import Any, Dict, Iterable, List, Sequence

import srsly

from .dictionary import Dictionary

SETTINGS = "settings.json"


def check_inputs(output: Path, source: str, parts: Sequence[Any]) -> Dict[str, str]:
    """Hash the inputs of a run.

    output (Path): The folder of the run.
    source (str): What the run learns from, for the message: "dictionary" or "teacher".
    parts (Sequence[Any]): The inputs.
    RETURNS (Dict[str, str]): What to write to `settings.json`. Raises ValueError if the folder holds a run with other
        inputs.
    """
    begin = {"hash": sha256(repr([_stable(part) for part in parts]).encode("utf8", "replace")).hexdigest()}
    file = output / SETTINGS
    if file.is_file() and srsly.read_json(file) != begin:
        raise ValueError(
            f"{output} holds a run with another {source}, other texts or other settings. Choose another folder, or "
            "delete this one to start again."
        )
    return begin


def list_files(paths: Iterable[Path]) -> List[str]:
    """RETURNS (List[str]): The names and sizes of files, also of those in folders; missing ones are left out."""
    files = (file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path]))
    return [f"{file} {file.stat().st_size}" for file in files if file.is_file()]


def _stable(part: Any) -> Any:
    if isinstance(part, Dictionary):
        return [sorted(part.labels.items()), sorted(part.forbidden)]
    if isinstance(part, Path):
        return [str(part), list_files([part]) if part.is_dir() else part.stat().st_size if part.is_file() else 0]
    return part
