"""A folder whose files are written atomically, so that a killed process leaves none incomplete."""

from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Iterator, NamedTuple

from ..lexicon.writing import whole_file


class WholeFile(NamedTuple):
    """A file that gets its name once it is completely on the disk."""

    path: Path

    @contextmanager
    def open(self, mode: str) -> Iterator[IO[Any]]:
        with whole_file(self.path) if mode == "wb" else self.path.open(mode) as file:
            yield file


class WholeFiles:
    """Stands in for the folder that `spacy pretrain` writes to, since it empties a file before it writes.

    Leftovers of a killed process are removed.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        for abandoned in folder.glob(".model*.bin.new"):
            abandoned.unlink()

    def __truediv__(self, name: str) -> WholeFile:
        return WholeFile(self.folder / name)
