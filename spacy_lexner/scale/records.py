"""Texts to annotate, from files of several formats: each with its place, its id and its other columns."""

import csv
import glob
import io
import json
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ..formats.record import FormatError
from ..formats.source import DAMAGED, OPENERS
from ..formats.spacy_file import read_docs

STDIN = "-"
PACKED = (*OPENERS, ".zst")
MAX_LINE = 256 * 1024 * 1024  # bytes; a longer line is not a text


class TextRecord(NamedTuple):
    """A text to annotate, or what is wrong with it."""

    place: str  # file and line or row, from 1
    text: str
    fields: Dict[str, Any] = {}  # noqa: RUF012 (never changed) the other columns
    fault: Optional[str] = None  # why there is no text

    @property
    def id(self) -> Any:
        """RETURNS (Any): The column `id`, otherwise the place."""
        return self.fields.get("id", self.place)


class InputOptions(NamedTuple):
    """How inputs are read."""

    column: str = "text"  # the column, or the JSON field, with the text
    format: str = "auto"  # one of FORMATS; "auto": by the suffix, and lines of text on the standard input


class Progress:
    """How much of the inputs was read, in bytes as they are on disk."""

    def __init__(self, inputs: Sequence[str]) -> None:
        self.total = sum(Path(name).stat().st_size for name in inputs if name != STDIN)
        self.done = 0


def list_inputs(paths: Iterable[str], options: InputOptions) -> List[str]:
    """List the files of paths, in order: files, folders (all files below of a known format, sorted), patterns, or "-"
    for the standard input.

    RETURNS (List[str]): The files. Raises FormatError if a path has none, or one has an unknown format.
    """
    found: List[str] = []
    for path in paths:
        if path == STDIN or Path(path).is_file():
            names = [path]
        elif Path(path).is_dir():
            files = sorted(file for file in Path(path).rglob("*") if file.is_file())
            names = [str(file) for file in files if _suffix(str(file)) in FORMATS.values()]
        else:
            names = sorted(name for name in glob.glob(path, recursive=True) if Path(name).is_file())
        if not names:
            raise FormatError(f"{path}: no such file, and no folder or pattern with files ({_known()}).")
        found += names
    for name in found:
        _format(name, options)
    return found


def read_records(
    inputs: Sequence[str], options: InputOptions, progress: Optional[Progress] = None
) -> Iterator[TextRecord]:
    """Read the texts of files, as a stream.

    inputs (Sequence[str]): As from `list_inputs`.
    progress (Optional[Progress]): Told how far the reading is.
    YIELDS (TextRecord): The texts, and the rows that hold none, with the reason. Raises FormatError, with the file, for
        one that cannot be read at all, or without the column.
    """
    for name in inputs:
        progress = progress or Progress([])
        start = progress.done
        try:
            yield from READERS[_format(name, options)](name, options, progress)
        except (*DAMAGED, UnicodeDecodeError) as error:
            raise FormatError(f"{name} is damaged and cannot be read to its end ({error}).") from error
        progress.done = start + (0 if name == STDIN else Path(name).stat().st_size)


# Formats


def _read_text(name: str, options: InputOptions, progress: Progress) -> Iterator[TextRecord]:
    for place, line, fault in _lines(name, progress):
        if fault or line.strip():
            yield TextRecord(place, line, {}, fault)


def _read_json(name: str, options: InputOptions, progress: Progress) -> Iterator[TextRecord]:
    for place, line, fault in _lines(name, progress):
        if not fault and not line.strip():
            continue
        row: Any = None
        if not fault:
            try:
                row = json.loads(line)
            except ValueError as error:
                fault = f"invalid JSON: {error}"
        if not fault and not isinstance(row, dict):
            fault = f"expected a JSON object, got {type(row).__name__}"
        yield TextRecord(place, line, {}, fault) if fault else _from_row(place, row, options.column)


def _read_csv(name: str, options: InputOptions, progress: Progress) -> Iterator[TextRecord]:
    csv.field_size_limit(MAX_LINE)
    with _open(name, progress) as file:
        lines = io.TextIOWrapper(file, "utf-8-sig", newline="")
        rows = csv.DictReader(lines, delimiter="\t" if _suffix(name) == ".tsv" else ",")
        _check_column(name, options.column, rows.fieldnames or [])
        for number, row in enumerate(rows, start=2):
            if None in row or None in row.values():
                found = f"the row has another number of fields than the header ({len(rows.fieldnames or [])})"
                yield TextRecord(f"{name}:{number}", "", {}, found)
            else:
                yield _from_row(f"{name}:{number}", row, options.column)


def _read_parquet(name: str, options: InputOptions, progress: Progress) -> Iterator[TextRecord]:
    parquet = import_arrow("parquet")
    with ExitStack() as stack:
        try:
            file = stack.enter_context(parquet.ParquetFile(name))
        except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
            raise FormatError(f"{name} is no complete Parquet file ({error}).") from error
        _check_column(name, options.column, file.schema_arrow.names)
        start, size, rows = progress.done, Path(name).stat().st_size, max(1, file.metadata.num_rows)
        number = 0
        for batch in file.iter_batches(batch_size=1024):
            for row in batch.to_pylist():
                number += 1
                yield _from_row(f"{name}:{number}", row, options.column)
            progress.done = start + size * number // rows


def _read_spacy(name: str, options: InputOptions, progress: Progress) -> Iterator[TextRecord]:
    for number, doc in enumerate(read_docs(Path(name)), start=1):
        yield TextRecord(f"{name}:{number}", doc.text)


READERS: Dict[str, Callable[[str, InputOptions, Progress], Iterator[TextRecord]]] = {
    "txt": _read_text,
    "jsonl": _read_json,
    "csv": _read_csv,
    "tsv": _read_csv,
    "parquet": _read_parquet,
    "spacy": _read_spacy,
}
FORMATS = {name: f".{name}" for name in READERS}


def import_arrow(module: str) -> Any:
    """RETURNS (Any): `pyarrow`, or one of its modules. Raises ImportError with the remedy."""
    import importlib

    try:
        return importlib.import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError as error:
        raise ImportError('Parquet and .zst need pyarrow: pip install "spacy-lexner[data]"') from error


def _from_row(place: str, row: Dict[str, Any], column: str) -> TextRecord:
    fields = {name: value for name, value in row.items() if name != column}
    if column not in row:
        return TextRecord(place, "", fields, f"no field {column!r}; it has {', '.join(map(repr, row)) or 'none'}")
    if not isinstance(row[column], str):
        found = type(row[column]).__name__
        return TextRecord(place, "", fields, f"the field {column!r} is of type {found}; expected a text")
    try:
        row[column].encode("utf8")
    except UnicodeEncodeError as error:
        return TextRecord(place, "", fields, f"character {error.start} is half of a surrogate pair")
    return TextRecord(place, row[column], fields)


def _check_column(name: str, column: str, columns: Sequence[str]) -> None:
    if column not in columns:
        raise FormatError(f"{name} has no column {column!r}. Name one of its columns (--column): {', '.join(columns)}.")


def _lines(name: str, progress: Progress) -> Iterator[Tuple[str, str, Optional[str]]]:
    """The place of each line, the line without its end, and what is wrong with it. Only a line feed ends a line."""
    with _open(name, progress) as file:
        number, offset = 0, 0
        while raw := file.readline(MAX_LINE):
            number += 1
            place, fault = f"{'stdin' if name == STDIN else name}:{number}", None
            if len(raw) == MAX_LINE and not raw.endswith(b"\n"):
                raise FormatError(f"{place}: a line of more than {MAX_LINE} bytes. Is this a text file?")
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf8")
            except UnicodeDecodeError as error:
                fault = f"byte {offset + error.start} of the file is not UTF-8 ({error.reason})"
                line = raw.decode("utf8", "replace")
            offset += len(raw)
            yield place, line.rstrip("\r\n"), fault


@contextmanager
def _open(name: str, progress: Progress) -> Iterator[BinaryIO]:
    """Open a file, unpacked."""
    import sys

    if name == STDIN:
        yield sys.stdin.buffer
        return
    start = progress.done
    with ExitStack() as stack:
        raw = stack.enter_context(open(name, "rb"))
        packed = Path(name).suffix
        if packed == ".zst":
            file = stack.enter_context(import_arrow("").input_stream(raw, compression="zstd"))
        elif packed in OPENERS:
            file = stack.enter_context(OPENERS[packed](raw))
        else:
            file = raw
        yield _Watched(file, raw, start, progress)  # type: ignore[misc]


class _Watched(io.BufferedReader):
    """A reader that tells how far the file below it was read."""

    def __init__(self, file: Any, raw: Any, start: int, progress: Progress) -> None:
        super().__init__(file, 1 << 16)
        self._told = (raw, start, progress)

    def readline(self, size: Optional[int] = -1) -> bytes:
        raw, start, progress = self._told
        progress.done = start + raw.tell()
        return super().readline(size)


def _suffix(name: str) -> str:
    suffixes = Path(name).suffixes
    return (suffixes[:-1] if suffixes and suffixes[-1] in PACKED else suffixes)[-1:][0] if suffixes else ""


def _format(name: str, options: InputOptions) -> str:
    known = options.format if options.format != "auto" else "txt" if name == STDIN else _suffix(name)[1:]
    if known not in READERS:
        raise FormatError(
            f"{name}: the format {known!r} is unknown. Give files with the suffixes {_known()}, or --format."
        )
    return known


def _known() -> str:
    return ", ".join(f".{name}" for name in READERS) + f"; text formats also with {', '.join(PACKED)}"
