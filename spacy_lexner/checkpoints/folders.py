"""Folders that appear whole or not at all."""

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator


@contextmanager
def whole_folder(target: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Write a folder under another name, and give it its own when everything is in it.

    target (Path): The folder. Raises ValueError if it is there already.
    overwrite (bool): Replace it instead.
    YIELDS (Path): The folder to write to. If writing fails nothing is left of it, and what was there before stays.
    """
    target = Path(target)
    if target.exists() and not overwrite:
        raise ValueError(f"{target} is there already. Give another folder, or overwrite it on purpose.")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield temporary
        if target.exists():
            shutil.rmtree(target)
        temporary.chmod(0o755)
        os.replace(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
