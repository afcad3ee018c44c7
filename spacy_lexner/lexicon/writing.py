"""Writing that survives a crash: one writer at a time in the folder of a lexicon, files replaced as a whole."""

import os
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Iterator

from .errors import LexiconError

LOCK = ".lock"  # stays in a folder: removing a lock file would let two writers in
PATIENCE = 600.0  # seconds


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Lock a folder, created if needed, against other writers; within a thread this may be nested. The system releases
    the lock if the process dies. Raises LexiconError if the path is a file, or if another writer holds the lock for
    more than PATIENCE seconds."""
    from filelock import FileLock, Timeout  # readers need no lock

    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise LexiconError(f"{path} is a file, not a folder. Choose another name.") from None
    lock = FileLock(path.resolve() / LOCK, timeout=PATIENCE, is_singleton=True)
    try:
        lock.acquire()
    except Timeout:
        raise LexiconError(
            f"{path}: another process has been writing here for more than {PATIENCE:.0f} seconds. Wait for it or stop "
            "it, then try again."
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that gets its name once it is completely on the disk; until then an earlier one stays. Its folder is
    created if needed. An exception leaves nothing; a killed process leaves `.NAME.new`, which the next one replaces."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def sync_folder(path: Path) -> None:
    """Flush a folder's list of files to the disk, so that a power failure does not undo a rename."""
    if os.name == "nt":  # Windows cannot open folders
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
