"""What the commands share: the folder of a lexicon, which is checked and written."""

from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.storage import MANIFEST

LexiconArgument = Annotated[Path, typer.Argument(metavar="LEXICON", help="The folder of a lexicon")]


def check_output(path: Path, force: bool) -> None:
    """Raise LexiconError if a folder must not be written to. `force` allows replacing a lexicon, not other files."""
    if (path / MANIFEST).is_file():
        if not force:
            raise LexiconError(f"{path} already holds a lexicon. Replace it (--force), or choose another folder.")
    elif path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise LexiconError(f"{path} is not a lexicon, and not empty. Choose another folder.")


def save(lexicon: Lexicon, path: Path) -> None:
    """Save a lexicon and report what is in it."""
    lexicon.save(path)
    vectors = f", vectors of {lexicon.dim} dimensions" if lexicon.dim else ""
    msg.good(f"{path}: {len(lexicon)} words{vectors}", f"Version {lexicon.version:016x}")
