"""Reading uploaded files of words and rules."""

import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Dict, Iterator, Mapping, NamedTuple

from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.readers.any_file import UNREAD, detect_format, read_any
from ...lexicon.readers.word_table import ColumnT, has_more_columns
from ...lexicon.rule_file import read_rules
from .edits import Edit, WordFields

Columns = Mapping[str, ColumnT]  # the columns of a table by field: "word", "label", "weight", "entity_id"
NO_COLUMNS: Columns = MappingProxyType({})
MAX_SKIPPED = 0.1  # share of the lines of a file


class Upload(NamedTuple):
    """The edit in a file."""

    edit: Edit
    skipped: Dict[str, int]  # lines that were left out, by reason


def read_words_file(data: bytes, name: str, lexicon: Lexicon, label: str = "", columns: Columns = NO_COLUMNS) -> Upload:
    """Read a list of words, a table or a jieba dictionary. Fields that the file lacks stay as they are.

    data (bytes): The file, UTF-8.
    name (str): Its name, for messages; a file named ".csv" is a table, JSON and spreadsheets are refused.
    lexicon (Lexicon): The lexicon to which the words will be added.
    label (str): The label of words that have none.
    columns (Mapping[str, Union[int, str]]): The columns of a table, as in `read_word_table`.
    RETURNS (Upload): The words. Raises LexiconError, with the line, for any other file, for vectors, for a table of
        several columns of which none but the words' is named, and if more than a tenth of the lines are invalid.
    """
    suffix = next((suffix for suffix in (".csv", *UNREAD) if name.lower().endswith(suffix)), ".txt")
    with _as_file(data, name, suffix) as path:
        format = _find_format(path, columns)
        words = Lexicon.from_entries(
            read_any(path, format, **columns),
            normalization=lexicon.normalization,
            max_word_length=lexicon.max_word_length,
            merge=True,
        )
        if words.dim:
            raise LexiconError(
                "The file has vectors, which only `spacy lexner lexicon build` reads. Upload words only."
            )
        report = words.report
        invalid = {key: count for key, count in report.skipped.items() if key not in ("duplicate", "label_added")}
        if sum(invalid.values()) > MAX_SKIPPED * report.n_read:
            raise LexiconError(f"More than a tenth of the lines are invalid. {report}")
    has_weights = format == "jieba" or "weight" in columns
    given = [
        WordFields(
            entry.word,
            entry.labels or ((label,) if label else None),
            entry.weight if has_weights else None,
            entry.entity_id or None,
        )
        for entry in words.entries()
    ]
    return Upload(Edit(add_words=tuple(given)), dict(report.skipped))


def read_rules_file(data: bytes, name: str) -> Upload:
    """Read a dictionary file (see `read_rules`), whose rules replace all rules of its words. Raises LexiconError, with
    the line, for an invalid rule."""
    with _as_file(data, name, ".tsv") as path:
        return Upload(Edit(add_rules=tuple(read_rules(path)), replace=True), {})


def _find_format(path: Path, columns: Columns) -> str:
    """Detect the format. Raises LexiconError for columns of a file that is no table, and for a table whose fields would
    be lost since no column but the word's was named."""
    format = detect_format(path, has_columns=bool(columns))
    if format != "table" and columns:
        options = ", ".join(f"{name}_column={column}" for name, column in columns.items())
        raise LexiconError(
            f"{path}: {options}: columns of a table, but this file is none (it is read as {format}). The columns of a "
            "table are separated by tabs, or by commas if its name ends in .csv."
        )
    if format == "table" and not set(columns) - {"word"} and has_more_columns(path):
        raise LexiconError(
            f"{path}: a table with more than one column. Name those to read with label_column, weight_column or "
            "entity_id_column, by number from 0 or by their name in the first row, and the words' with word_column "
            "unless it is the first. To add words alone, upload them as a list."
        )
    return format


@contextmanager
def _as_file(data: bytes, name: str, suffix: str) -> Iterator[Path]:
    """Write a temporary file for the readers; errors have the name that the client gave."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(data)
        try:
            yield path
        except LexiconError as error:
            raise LexiconError(str(error).replace(str(path), _shown(name))) from None


def _shown(name: str) -> str:
    return "".join(character for character in name if character.isprintable())[:80] or "the file"
