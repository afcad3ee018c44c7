"""What the commands share: entries with a progress bar, a folder to write to, and what is said when it is written."""

from pathlib import Path
from typing import Annotated, Iterable

import typer
from tqdm import tqdm
from wasabi import msg

from ...lexicon.entry import REASONS, LexiconEntry
from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.storage import MANIFEST
from ...lexicon.stream import EntryStream, MergedStream

LexiconArgument = Annotated[Path, typer.Argument(metavar="LEXICON", help="The folder of a lexicon")]
OutputArgument = Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write")]
ForceOption = Annotated[bool, typer.Option("--force", "-F", help="Replace a lexicon that is there already")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object")]


class WatchedStream(MergedStream):
    """Streams of entries one after the other, with a progress bar."""

    def __init__(self, streams: Iterable[EntryStream]) -> None:
        """Create a stream.

        streams (Iterable[EntryStream]): The streams.
        """
        super().__init__(streams)
        self._bar = tqdm(desc="reading", unit=" words", disable=None, leave=False)

    def __next__(self) -> LexiconEntry:
        try:
            entry = super().__next__()
        except BaseException:
            self._bar.close()
            raise
        self._bar.update()
        return entry


def check_output(path: Path, force: bool) -> None:
    """Raise LexiconError if a folder must not be written to.

    path (Path): The folder.
    force (bool): Whether a lexicon that is there is replaced. Other files never are.
    """
    if (path / MANIFEST).is_file():
        if not force:
            raise LexiconError(f"{path}: there is a lexicon already. Replace it (--force), or give another folder.")
    elif path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise LexiconError(f"{path}: this is no lexicon, and not empty. Give another folder.")


def save(lexicon: Lexicon, path: Path) -> None:
    """Save a lexicon and say what is in it, and what was left out when it was built.

    lexicon (Lexicon): The lexicon.
    path (Path): The folder.
    """
    lexicon.save(path)
    vectors = f", vectors of {lexicon.dim} dimensions" if lexicon.dim else ""
    msg.good(f"{path}: {len(lexicon)} words{vectors}", f"Version {lexicon.version:016x}")


def tell_skipped(lexicon: Lexicon, *, duplicates: bool) -> None:
    """Say what was left out when a lexicon was built, and where it stands.

    lexicon (Lexicon): The lexicon.
    duplicates (bool): Whether words that were there twice are worth a word.
    """
    for reason, count in lexicon.report.skipped.items():
        if reason != "duplicate":
            msg.warn(f"{count} entries left out: {REASONS[reason]}", ", ".join(lexicon.report.places[reason]))
        elif duplicates:
            msg.info(f"{count} entries are of words that came before: one word each, the first.")
