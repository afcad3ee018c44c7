"""The source files of a lexicon: the format of each, and a report of what was left out."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Dict, Iterable, List, NamedTuple

import typer
from tqdm import tqdm
from wasabi import msg

from ...lexicon.build import BuildReport
from ...lexicon.entry import REASONS, EntryStream, LexiconEntry
from ...lexicon.errors import LexiconError
from ...lexicon.readers.any_file import detect_format, read_any
from ...lexicon.readers.merged_stream import MergedStream

StrictOption = Annotated[bool, typer.Option("--strict", help="Fail instead of leaving entries out")]
MaxDroppedOption = Annotated[
    float, typer.Option(help="Fail if a larger share of a file's entries is left out; 1 allows all", metavar="SHARE")
]
MAX_DROPPED = 0.1
N_PLACES = 3  # of lines in a message


class Source(NamedTuple):
    """A file or the folder of a lexicon, its format, and the label for its words that have none."""

    path: Path
    format: str
    label: str = ""


class WatchedStream(MergedStream):
    """Concatenated streams of entries, counted by source, with a progress bar."""

    def __init__(self, streams: Iterable[EntryStream]) -> None:
        super().__init__(streams)
        self.n_read: Counter[str] = Counter()
        self._bar = tqdm(desc="reading", unit=" words", disable=None, leave=False)

    def __next__(self) -> LexiconEntry:
        try:
            entry = super().__next__()
        except BaseException:
            self._bar.close()
            raise
        self._bar.update()
        self.n_read[self.source] += 1
        return entry


def plan_sources(paths: Iterable[str], format: str, settings: Dict[str, Any], columns: Dict[str, Any]) -> List[Source]:
    """Choose the format of each file, given as a path or LABEL=PATH. Columns apply to tables only; if no file is a
    table, `label` is the label of the words in plain lists. Raises LexiconError for columns that apply to no file."""
    sources = []
    for given in paths:
        label, _, place = ("", "", given) if Path(given).exists() else given.rpartition("=")
        path, chosen = Path(place), format
        if path.is_dir():
            chosen = "lexicon"
        elif format == "auto":
            chosen = detect_format(path, settings["encoding"], settings["errors"], has_columns=bool(columns))
        sources.append(Source(path, chosen, label))
    formats = {source.format for source in sources}
    if not columns or "table" in formats:
        return sources
    label = columns.get("label", "")
    if set(columns) == {"label"} and isinstance(label, str) and "words" in formats:
        return [
            source._replace(label=source.label or label) if source.format == "words" else source for source in sources
        ]
    options = ", ".join(f"--{name.replace('_', '-')} {column}" for name, column in columns.items())
    found = ", ".join(f"{source.path} {source.format}" for source in sources)
    raise LexiconError(
        f"{options}: columns of a table, but no file is one ({found}). Tables are separated by tabs, or .csv; --format "
        "table reads every file as one. The words of a plain list get a label with --label NAME or NAME=PATH."
    )


def open_source(source: Source, settings: Dict[str, Any], columns: Dict[str, Any]) -> EntryStream:
    """Open a file or lexicon, and print how it is read. `settings` are the options of every reader (`limit`,
    `encoding`, `errors`), `columns` those of tables."""
    path, format, label = source
    if format == "lexicon":
        stream = read_any(path)
    else:
        msg.info(f"{path}: read as {format}" + (f", labelled {label}" if label else ""))
        if format == "table" and not columns:
            msg.warn(
                f"{path}: only the first column, the words, is read. `lexicon build` reads others (--label 1, ...)."
            )
        stream = read_any(path, format, **settings, **(columns if format == "table" else {}))
    return _labelled(stream, label) if label else stream


def _labelled(stream: EntryStream, label: str) -> EntryStream:
    return EntryStream(
        stream.source, ((stream.line, entry if entry.labels else entry._replace(labels=(label,))) for entry in stream)
    )


def check_dropped(report: BuildReport, stream: WatchedStream, max_dropped: float) -> None:
    """Raise LexiconError if more than a share of a file's entries was left out, other than as duplicates."""
    for file, own in report.by_file.items():
        dropped = {reason: count for reason, count in own.skipped.items() if reason not in ("duplicate", "label_added")}
        n_dropped, n_read = sum(dropped.values()), stream.n_read[file]
        if n_dropped > max_dropped * n_read:
            counts = "; ".join(f"{count} x {REASONS[reason]}" for reason, count in dropped.items())
            places = [place for reason in dropped for place in own.places[reason]][:N_PLACES]
            more = ", ..." if n_dropped > len(places) else ""
            raise LexiconError(
                f"{file}: {n_dropped} of {n_read} entries would be left out ({n_dropped / n_read:.0%}): {counts} "
                f"({', '.join(places)}{more}). Check the format (--format), encoding and columns, or leave "
                "them out anyway (--max-dropped 1)."
            )


def report_skipped(report: BuildReport, *, duplicates: bool) -> None:
    """Print what was left out when a lexicon was built, and where; repeated words only with `duplicates`."""
    for reason, count in report.skipped.items():
        if reason == "label_added":
            msg.info(f"{count} entries repeat earlier words with another label: these have both")
        elif reason != "duplicate":
            msg.warn(f"{count} entries left out: {REASONS[reason]}", ", ".join(report.places[reason]))
        elif duplicates:
            msg.info(f"{count} entries repeat earlier words: the first of each was kept")
    if report.n_trimmed:
        msg.info(f"{report.n_trimmed} words had white space at their edges: trimmed")
