"""Readers of texts, one for each file format."""

import json
from functools import partial
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Sequence

from ..formats.json_text import LONE_SURROGATE, parse
from ..formats.record import FormatError
from ..lexicon.limits import quote
from .csv_rows import DELIMITERS, CsvRows
from .records import RECORD_KEY, InputOptions, Progress, TextRecord, import_arrow
from .streams import PACKED, read_lines

SHOWN = 80  # characters of a list of columns in an error
EXAMPLE = '{"text": "我在南京"}'


def _read_text(name: str, options: InputOptions, progress: Progress) -> Iterator[TextRecord]:
    for line in read_lines(name, progress):
        if line.fault or line.text.strip():
            yield TextRecord(line.place, line.text.rstrip("\r\n"), {}, line.fault)


def _read_json(name: str, options: InputOptions, progress: Progress) -> Iterator[TextRecord]:
    for place, text, fault in read_lines(name, progress):
        if not fault and not text.strip():
            continue
        row: Any = None
        if not fault:
            try:
                row = parse(text, place, EXAMPLE)
            except FormatError as error:
                fault = f"invalid JSON: {error}"
        if not fault and not isinstance(row, dict):
            fault = f"expected a JSON object, got {type(row).__name__}"
        yield TextRecord(place, text.rstrip("\r\n"), {}, fault) if fault else _from_row(place, row, options.column)


def _read_csv(name: str, options: InputOptions, progress: Progress, *, format: str = "csv") -> Iterator[TextRecord]:
    rows = CsvRows(name, format, progress)
    _check_column(name, options.column, rows.columns)
    for place, cells, fault in rows:
        row = dict(zip(rows.columns, cells))
        if not fault and len(cells) != len(rows.columns):
            fault = f"the row's number of fields differs from the header's ({len(cells)}; expected {len(rows.columns)})"
        if fault:
            yield TextRecord(place, row.get(options.column, ""), {}, fault)
        else:
            yield _from_row(place, row, options.column)


def _read_parquet(name: str, options: InputOptions, progress: Progress) -> Iterator[TextRecord]:
    start, size, number = progress.done, Path(name).stat().st_size, 0
    with open_parquet(name, options) as file:
        n_rows = max(1, file.metadata.num_rows)
        try:
            for batch in file.iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    number += 1
                    yield _from_row(f"{name}:{number}", row, options.column)
                progress.done = start + size * number // n_rows
        except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
            raise FormatError(f"{name}:{number + 1}: the Parquet file is damaged ({error}).") from error


def open_parquet(name: str, options: InputOptions) -> Any:
    """RETURNS (ParquetFile): The file. Raises FormatError if it is incomplete or lacks the column."""
    try:
        file = import_arrow("parquet").ParquetFile(name)
    except (OSError, ValueError) as error:
        raise FormatError(f"{name} is not a complete Parquet file ({error}).") from error
    _check_column(name, options.column, file.schema_arrow.names)
    return file


def _read_spacy(name: str, options: InputOptions, progress: Progress) -> Iterator[TextRecord]:
    from ..formats.spacy_file import read_docs

    for number, doc in enumerate(read_docs(Path(name)), start=1):
        yield TextRecord(f"{name}:{number}", doc.text, doc.user_data.get(RECORD_KEY, {}))


READERS: Dict[str, Callable[[str, InputOptions, Progress], Iterator[TextRecord]]] = {
    "txt": _read_text,
    "jsonl": _read_json,
    "csv": _read_csv,
    "tsv": partial(_read_csv, format="tsv"),
    "parquet": _read_parquet,
    "spacy": _read_spacy,
}


def check_file(name: str, format: str, options: InputOptions) -> None:
    """Raise FormatError early for a file that its reader would refuse: one without the column, or incomplete."""
    if format in DELIMITERS:
        next(READERS[format](name, options, Progress([])), None)
    elif format == "parquet":
        open_parquet(name, options).close()


def suffix_of(name: str) -> str:
    """RETURNS (str): The suffix that gives the format; in a compressed file the one before the last."""
    suffixes = Path(name).suffixes
    return (suffixes[:-1] if suffixes and suffixes[-1] in PACKED else suffixes)[-1:][0] if suffixes else ""


def _from_row(place: str, row: Dict[str, Any], column: str) -> TextRecord:
    for name, value in row.items():
        if LONE_SURROGATE.search(json.dumps([name, value], ensure_ascii=False, default=str)):
            return TextRecord(place, "", {}, f"the field {quote(name)} has a lone surrogate, half of a character")
    fields = {name: value for name, value in row.items() if name != column}
    if column not in row:
        given = ", ".join(map(repr, row))[:SHOWN] or "none"
        return TextRecord(place, "", fields, f"no field {column!r}; it has {given}")
    if not isinstance(row[column], str):
        found = type(row[column]).__name__
        return TextRecord(place, "", fields, f"the field {column!r} is of type {found}; expected a string")
    return TextRecord(place, row[column], fields)


def _check_column(name: str, column: str, columns: Sequence[str]) -> None:
    if column not in columns:
        given = ", ".join(columns)[:SHOWN]
        raise FormatError(f"{name} has no column {column!r}. Name one of its columns (--column): {given}.")
