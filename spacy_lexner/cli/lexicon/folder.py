"""Checking, locking and writing the folder of a lexicon, for the commands of this group."""

from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Iterator

import typer
from wasabi import msg

from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.storage import MANIFEST
from ...lexicon.writing import LOCK, writing
from ..shared import status

LexiconArgument = Annotated[Path, typer.Argument(metavar="LEXICON", help="The folder of a lexicon")]


def check_output(path: Path, force: bool) -> None:
    """Raise LexiconError if a folder must not be written to. `force` allows replacing a lexicon, not other files."""
    if (path / MANIFEST).is_file():
        if not force:
            raise LexiconError(f"{path} already holds a lexicon. Replace it (--force), or choose another folder.")
    elif path.exists() and (not path.is_dir() or any(file.name != LOCK for file in path.iterdir())):
        raise LexiconError(f"{path} is not a lexicon, and not empty. Choose another folder.")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn errors from inconsistent files into a LexiconError: opening maps a lexicon's files without reading them, so
    damage shows up only in use."""
    try:
        yield
    except (IndexError, OverflowError, MemoryError, UnicodeDecodeError) as error:
        raise LexiconError(
            f"{path}: the lexicon contradicts itself ({type(error).__name__}: {error}). `lexner lexicon verify` names "
            "the damaged file; rebuild the lexicon, or copy it again."
        ) from None


@contextmanager
def replacing(path: Path, force: bool) -> Iterator[None]:
    """Check the folder that a command will write, and lock a lexicon already there until the command is done. Raises
    LexiconError as `check_output` does."""
    check_output(path, force)
    with writing(path) if (path / MANIFEST).is_file() else nullcontext():
        yield


def save(lexicon: Lexicon, path: Path, force: bool) -> None:
    """Save a lexicon and print its size and version. Raises LexiconError as `check_output` does: another command may
    have written to the folder in the meantime."""
    with writing(path), status(f"writing {path}"):
        check_output(path, force)
        lexicon.save(path)
    vectors = f", vectors of {lexicon.dim} dimensions" if lexicon.dim else ""
    msg.good(f"{path}: {len(lexicon)} words{vectors}", f"Version {lexicon.version:016x}")
