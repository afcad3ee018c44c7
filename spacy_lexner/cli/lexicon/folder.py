"""What the commands share: entries with a progress bar, and a folder that is checked, written and reported."""

from pathlib import Path
from typing import Annotated, Iterable

import typer
from tqdm import tqdm
from wasabi import msg

from ...lexicon.entry import REASONS, EntryStream, LexiconEntry
from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.readers.merged_stream import MergedStream
from ...lexicon.storage import MANIFEST

LexiconArgument = Annotated[Path, typer.Argument(metavar="LEXICON", help="The folder of a lexicon")]


class WatchedStream(MergedStream):
    """Streams of entries one after the other, with a progress bar."""

    def __init__(self, streams: Iterable[EntryStream]) -> None:
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


def report_skipped(lexicon: Lexicon, *, duplicates: bool) -> None:
    """Report what was left out when a lexicon was built, and where; repeated words only with `duplicates`."""
    for reason, count in lexicon.report.skipped.items():
        if reason != "duplicate":
            msg.warn(f"{count} entries left out: {REASONS[reason]}", ", ".join(lexicon.report.places[reason]))
        elif duplicates:
            msg.info(f"{count} entries repeat earlier words: the first of each was kept")
    if lexicon.report.n_trimmed:
        msg.info(f"{lexicon.report.n_trimmed} words had white space at their edges: trimmed")
