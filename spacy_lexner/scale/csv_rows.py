"""Rows of CSV and TSV files, each with the line on which it begins."""

import csv
from typing import Iterator, List, NamedTuple, Optional

from ..formats.record import FormatError
from ..lexicon.limits import limit
from .records import Progress
from .streams import read_lines

DELIMITERS = {"csv": ",", "tsv": "\t"}


class Row(NamedTuple):
    """A row, which may span several lines."""

    place: str  # its first line
    cells: List[str]
    fault: Optional[str]  # the first of its lines'


class CsvRows:
    """The rows below the header of a file. Quotes are strict: a stray one would silently join rows into one text."""

    def __init__(self, name: str, format: str, progress: Progress) -> None:
        """Read the header into `columns`. Raises FormatError if it is not UTF-8, or names two columns alike.

        name (str): The file, or "-" for standard input.
        format (str): One of DELIMITERS.
        progress (Progress): Updated while reading.
        """
        self._name, self._progress = name, progress
        self._place, self._fault = "", None  # type: str, Optional[str]
        csv.field_size_limit(limit("line"))
        self._reader = csv.reader(self._lines(), delimiter=DELIMITERS[format], strict=True)
        header = next(self, Row(name, [], None))
        if header.fault:
            raise FormatError(f"{header.place}: {header.fault}. Save the file as UTF-8.")
        self.columns = header.cells
        if twice := [column for i, column in enumerate(self.columns) if column and column in self.columns[:i]]:
            raise FormatError(
                f"{header.place}: there are several columns {twice[0]!r}, and only one can be kept. Rename one of them."
            )

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        """RETURNS (Row): The next row that is not blank. Raises FormatError if a quote is not closed."""
        cells: List[str] = []
        while not cells:
            self._place, self._fault = "", None
            try:
                cells = next(self._reader)
            except csv.Error as error:
                raise FormatError(
                    f"{self._place}: invalid CSV in the row that begins here and was read up to line "
                    f'{self._reader.line_num} ({error}). A cell that begins with " must end with ", and " within it '
                    'is doubled (""). Correct the file, or give the texts as .txt or .jsonl.'
                ) from error
        return Row(self._place, cells, self._fault)

    def _lines(self) -> Iterator[str]:
        for place, text, fault in read_lines(self._name, self._progress):
            self._place = self._place or place
            self._fault = self._fault or fault
            yield text
