"""Folders that are created, replaced and removed atomically."""

import ctypes
import os
import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Iterable, Iterator, List, Tuple

from ..lexicon.writing import sync_folder

try:
    import fcntl
except ImportError:  # on Windows, leftovers of killed processes are not removed
    fcntl = None  # type: ignore[assignment]

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of linux/fcntl.h and linux/fs.h


@contextmanager
def whole_folder(target: Path, *, overwrite: bool = False, inputs: Iterable[Path] = ()) -> Iterator[Path]:
    """Write to a temporary folder next to the target, which is renamed to the target once all its contents are on disk.
    If writing fails or the process is killed, an existing folder is unchanged; the next call removes the leftovers of a
    killed process. Where the system can exchange two folders (Linux), the target exists at every moment.

    target (Path): The folder; of a link, the folder that it leads to. Anything else there raises ValueError.
    overwrite (bool): Whether to replace an existing folder. If not, it raises ValueError.
    inputs (Iterable[Path]): What the contents are made from. A folder with any of it is never replaced, which would
        remove it: raises ValueError.
    YIELDS (Path): The temporary folder.
    """
    target = Path(target).resolve()
    if target.exists() and not overwrite:
        raise ValueError(f"{target} already exists. Choose another folder, or allow overwriting.")
    if target.exists() and not target.is_dir():
        raise ValueError(f"{target} is not a folder. Choose another name, or remove it.")
    check_kept(target, inputs)
    target.parent.mkdir(parents=True, exist_ok=True)
    _clean_up(target)
    temporary, lock = _make_temporary(target)
    try:
        yield temporary
        temporary.chmod(0o755)
        _sync(temporary)
        if not _exchange(temporary, target):
            old = temporary.with_suffix(".old")
            if target.exists():
                os.rename(target, old)
            os.rename(temporary, target)
            shutil.rmtree(old, ignore_errors=True)
        sync_folder(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        os.close(lock)


def check_kept(target: Path, inputs: Iterable[Path]) -> None:
    """Raise ValueError if a folder that is to be replaced holds one of the inputs, or is one."""
    lost = [path for path in map(Path, inputs) if target.resolve() in (path.resolve(), *path.resolve().parents)]
    if target.exists() and lost:
        raise ValueError(
            f"{target} cannot be replaced, since that would remove {lost[0]}, which is read. Choose another folder."
        )


def remove_folder(folder: Path) -> None:
    """Remove a folder atomically: even if the process is killed, it is either complete or gone."""
    _clean_up(folder)
    temporary, lock = _make_temporary(folder)
    try:
        os.rename(folder, temporary / folder.name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        os.close(lock)


def _make_temporary(target: Path) -> Tuple[Path, int]:
    """RETURNS (Tuple[Path, int]): A new folder next to the target, and the descriptor that locks it as long as this
    process lives."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".new", dir=target.parent))
        lock = os.open(folder if fcntl is not None else os.devnull, os.O_RDONLY)
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():  # another process may have removed it as abandoned before it was locked
            return folder, lock
        os.close(lock)


def _clean_up(target: Path) -> None:
    """Remove the temporary folders of processes that were killed while writing this target. If folders cannot be
    exchanged, one may have been killed between the two renames: then restore the old folder's name."""
    for folder in _leftovers(target, "new") if fcntl is not None else ():
        with suppress(OSError):  # its process is still writing, or has just ended
            lock = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(lock)
    for folder in _leftovers(target, "old"):
        if target.exists():
            shutil.rmtree(folder, ignore_errors=True)
        else:
            os.rename(folder, target)


def _leftovers(target: Path, suffix: str) -> List[Path]:
    """The temporary folders of this target, but not those of another whose name only begins like it."""
    name = re.compile(rf"\.{re.escape(target.name)}\.[^.]+\.{suffix}")  # `mkdtemp` puts no dot in the middle
    return [folder for folder in target.parent.iterdir() if name.fullmatch(folder.name)]


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two folders atomically. RETURNS (bool): Whether the system supports it and it succeeded."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return rename(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), RENAME_EXCHANGE) == 0


def _sync(folder: Path) -> None:
    """Flush a folder with everything in it to disk."""
    for root, _, files in os.walk(folder):
        for name in files:
            with (Path(root) / name).open("rb") as file:
                os.fsync(file.fileno())
        sync_folder(Path(root))
