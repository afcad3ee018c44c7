"""Reading the texts to annotate from files of several formats, each with its place, id and other columns."""

import glob
from contextlib import contextmanager
from pathlib import Path
from typing import Iterable, Iterator, List, Optional, Sequence

from ..formats.record import FormatError
from ..formats.source import DAMAGED
from .readers import READERS, check_file, suffix_of
from .records import STDIN, InputOptions, Progress, TextRecord
from .store import QUARANTINE, is_output
from .streams import PACKED

SUFFIXES = tuple(f".{name}" for name in READERS)
UNSTREAMED = ("parquet", "spacy")


def list_inputs(paths: Iterable[str], options: InputOptions, output: Optional[Path] = None) -> List[str]:
    """List the files of paths, in order: files, folders (all files below of a known format, sorted), patterns, or "-"
    for standard input. Of an earlier run's output, folders and patterns give the annotated texts, not the quarantine.

    output (Optional[Path]): A folder whose files are left out of other folders and patterns: the output of this run.
    RETURNS (List[str]): The files, without "./". Raises FormatError if a path has none, or if a file has an unknown
        format, lacks the column or is incomplete.
    """
    found: List[str] = []
    for path in paths:
        names = [path] if path == STDIN or Path(path).is_file() else _list_below(path, output)
        if not names:
            raise FormatError(f"{path}: no such file, and no folder or pattern with files ({_known()}).")
        found += map(_plain, names)
    for name in found:
        format = format_of(name, options)
        if name != STDIN:
            with _readable(name):
                check_file(name, format, options)
        elif format in UNSTREAMED:
            raise FormatError(f"Standard input cannot be read as {format!r}, whose files have no lines. Name the file.")
    return found


def _list_below(path: str, output: Optional[Path]) -> List[str]:
    """The files of a folder or pattern that are texts to annotate."""
    if Path(path).is_dir():
        files = sorted(file for file in Path(path).rglob("*") if suffix_of(str(file)) in SUFFIXES)
    else:
        files = [Path(name) for name in sorted(glob.glob(path, recursive=True))]
    if output is not None:
        files = [file for file in files if output.resolve() not in file.resolve().parents]
    return [str(file) for file in files if file.is_file() and not (file.name == QUARANTINE and is_output(file.parent))]


def _plain(name: str) -> str:
    """The ids of texts and a resumed run must not depend on "./" before a name; a file may be called "./-"."""
    plain = str(Path(name))
    return name if plain == STDIN else plain


def read_records(
    inputs: Sequence[str], options: InputOptions, progress: Optional[Progress] = None
) -> Iterator[TextRecord]:
    """Read the texts of files, as a stream.

    inputs (Sequence[str]): As from `list_inputs`.
    progress (Optional[Progress]): Updated while reading.
    YIELDS (TextRecord): The texts, and the rows without one, with the reason. Raises FormatError, with the file, if it
        cannot be read at all or lacks the column.
    """
    for name in inputs:
        progress = progress or Progress([])
        start = progress.done
        with _readable(name):
            yield from READERS[format_of(name, options)](name, options, progress)
        progress.done = start + (0 if name == STDIN else Path(name).stat().st_size)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except (*DAMAGED, OSError) as error:
        raise FormatError(f"{name} is damaged and cannot be read to the end ({error}).") from error


def format_of(name: str, options: InputOptions) -> str:
    """RETURNS (str): The format of a file, one of READERS. Raises FormatError if it is unknown."""
    known = options.format if options.format != "auto" else "txt" if name == STDIN else suffix_of(name)[1:]
    if known not in READERS:
        raise FormatError(
            f"{name}: the format {known!r} is unknown. Give files with the suffixes {_known()}, or --format."
        )
    return known


def _known() -> str:
    return ", ".join(f".{name}" for name in READERS) + f"; text formats also with {', '.join(PACKED)}"
