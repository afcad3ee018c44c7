"""Folders that appear whole or not at all."""

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator


@contextmanager
def whole_folder(target: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Write to a temporary folder, which gets its own name once everything is in it. If writing fails, nothing of it is
    left, and an existing folder stays as it was. Raises ValueError if `target` exists, unless `overwrite`."""
    target = Path(target)
    if target.exists() and not overwrite:
        raise ValueError(f"{target} already exists. Choose another folder, or allow overwriting.")
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
