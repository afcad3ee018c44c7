"""Finding and hashing the files of a pipeline without loading it."""

import hashlib
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def find_model(model: str) -> Path:
    """RETURNS (Path): The folder of a pipeline, by folder or package name. Raises OSError if there is none."""
    if Path(model).is_dir():
        return Path(model)
    try:
        distribution(model)
        spec = find_spec(model)
    except (PackageNotFoundError, ValueError):
        spec = None
    if spec is None or not spec.origin:
        raise OSError(f"There is no pipeline {model}: expected a folder or an installed package.")
    return Path(spec.origin).parent


def hash_model(model: str) -> str:
    """RETURNS (str): A hash of the files of a pipeline, by folder or package name. Raises OSError if there is none."""
    folder = find_model(model)
    content = hashlib.sha256()
    for path in sorted(file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256") if hasattr(hashlib, "file_digest") else _digest(file)
        content.update(f"{path.relative_to(folder).as_posix()} {digest.hexdigest()}\n".encode())
    return content.hexdigest()


def _digest(file: Any) -> Any:
    content = hashlib.sha256()
    while block := file.read(1 << 20):
        content.update(block)
    return content
