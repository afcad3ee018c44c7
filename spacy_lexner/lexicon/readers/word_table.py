"""Tables of words: TSV and CSV with chosen columns."""

import csv
from itertools import islice
from pathlib import Path
from typing import Callable, Iterator, List, Optional, Sequence, Tuple, Union

from ..entry import EntryStream, LexiconEntry
from ..errors import LexiconError
from ..limits import QUOTED
from ..lines import read_lines, stream_entries
from ..word_vectors import parse_vector
from .jieba_dictionary import to_weight

ColumnT = Union[int, str]


def read_word_table(
    path: Union[str, Path],
    *,
    word: ColumnT = 0,
    weight: Optional[ColumnT] = None,
    label: Optional[ColumnT] = None,
    entity_id: Optional[ColumnT] = None,
    vector: Optional[ColumnT] = None,
    header: Optional[bool] = None,
    delimiter: Optional[str] = None,
    limit: Optional[int] = None,
    encoding: str = "utf8",
    errors: str = "strict",
) -> EntryStream:
    """Read a table with an entry on each row. Columns are given by number, from 0, or by their name in the header.
    Blank rows are skipped.

    path, limit, encoding, errors: As in `read_word_list`.
    word, label, entity_id (Union[int, str]): Columns of these fields; only `word` is required.
    weight (Optional[Union[int, str]]): Column of the weight; an empty cell means 1.
    vector (Optional[Union[int, str]]): Column of the vector, numbers separated by spaces or commas; may be empty.
    header (Optional[bool]): Whether the first row holds names; by default, if a column is given by name.
    delimiter (Optional[str]): By default a comma for .csv, with quotes; a tab otherwise, without quotes.
    RETURNS (EntryStream): The entries. Raises LexiconError if there are none, or a column is missing.
    """
    path = Path(path)
    columns = [word, weight, label, entity_id, vector]
    if header is None:
        header = any(isinstance(column, str) for column in columns)
    if delimiter is None:
        delimiter = "," if is_csv(path) else "\t"
    rows = read_rows(path, delimiter, encoding, errors)
    return stream_entries(path, _read(path, rows, columns, header, limit))


def has_more_columns(path: Union[str, Path]) -> bool:
    """RETURNS (bool): Whether a table has anything beside its first column."""
    rows = read_rows(Path(path), "," if is_csv(Path(path)) else "\t", "utf8", "strict")
    return any(cell.strip() for _, row in rows for cell in row[1:])


def read_rows(path: Path, delimiter: str, encoding: str, errors: str) -> Iterator[Tuple[int, List[str]]]:
    """YIELDS (Tuple[int, List[str]]): The number and the cells of each row."""
    lines = (line + "\n" for _, line in read_lines(path, encoding=encoding, errors=errors))
    if delimiter == "\t":
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise LexiconError(f"{path}:{reader.line_num}: not a row of a table ({error}).") from None


def _read(
    path: Path,
    rows: Iterator[Tuple[int, List[str]]],
    columns: Sequence[Optional[ColumnT]],
    header: bool,
    limit: Optional[int],
) -> Iterator[Tuple[int, LexiconEntry]]:
    filled = ((number, row) for number, row in rows if any(map(str.strip, row)))
    names = list(map(str.strip, next(filled, (0, []))[1])) if header else []
    cells = [_cell_getter(path, names, header, column) for column in columns]
    last, widest = max(column for column in (0, *columns) if isinstance(column, int)), len(names)
    row: List[str] = []
    semicolons = is_csv(path)  # whether every row is a single cell with a semicolon
    for number, row in islice(filled, limit):
        widest = max(widest, len(row))
        semicolons = semicolons and len(row) == 1 and ";" in row[0]
        word, *others = (cell(row) for cell in cells)
        weight, label, entity_id, numbers = map(str.strip, others)
        vector = parse_vector(numbers.replace(",", " ")) if numbers else None
        yield number, LexiconEntry(word, vector, to_weight(weight), label, entity_id)
    if semicolons and row:
        raise LexiconError(
            f"{path}: each row is a single cell with semicolons, as in {row[0][:QUOTED]!r}. Save the table with "
            "commas, or with tabs as .tsv."
        )
    if 0 < widest <= last:
        raise LexiconError(
            f"{path}: no row has a column {last}: columns count from 0, and rows have at most {widest}. Check the "
            "number, and what stands between columns: commas in a .csv file, tabs in any other."
        )


def _cell_getter(path: Path, names: List[str], header: bool, column: Optional[ColumnT]) -> Callable[[List[str]], str]:
    """Get a function that returns a row's cell in that column, "" if the row is too short."""
    if column is None:
        return lambda row: ""
    if isinstance(column, int):
        index = column
    elif not header or column not in names:
        given = ", ".join(names)[:QUOTED] or "no names"
        raise LexiconError(f"{path}:1: no column named {column!r}; the header has {given}.")
    else:
        index = names.index(column)
    return lambda row: row[index] if index < len(row) else ""


def is_csv(path: Path) -> bool:
    """RETURNS (bool): Whether a file, compressed or not, has commas between its columns, by its name."""
    return ".csv" in map(str.lower, path.suffixes)
