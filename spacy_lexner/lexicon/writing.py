"""One writer at a time for the folder of a lexicon, and what makes its writes last."""

import os
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from .errors import LexiconError

LOCK = ".lock"  # stays in the folder: a lock file that is removed would let two writers in
PATIENCE = 600.0  # seconds


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Hold a folder, created if needed, against other writers; in one thread this may be nested. The system releases
    it if the process dies. Raises LexiconError if another writer has it for more than PATIENCE seconds."""
    from filelock import FileLock, Timeout  # readers need no lock

    path.mkdir(parents=True, exist_ok=True)
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


def sync_folder(path: Path) -> None:
    """Write the names of a folder's files to the disk, so that a loss of power does not undo a rename."""
    if os.name == "nt":  # where folders cannot be opened
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
