"""Reading a file of words or vectors in any format."""

import re
from itertools import islice
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple, Union

from ..entry import EntryStream
from ..errors import LexiconError
from ..lexicon import Lexicon
from ..limits import quote
from ..lines import read_lines
from ..word_vectors import read_word_vectors
from .jieba_dictionary import NUMBER, read_jieba_dictionary
from .word_list import read_word_list
from .word_table import is_csv, read_word_table

READERS: Dict[str, Callable[..., EntryStream]] = {
    "words": read_word_list,
    "jieba": read_jieba_dictionary,
    "table": read_word_table,
    "vectors": read_word_vectors,
}
UNREAD = {".json", ".jsonl", ".xls", ".xlsx", ".ods"}
N_SAMPLE = 20  # lines from which the format is detected
FREQUENCY = re.compile(NUMBER)
TAGGED = re.compile(r".+?[ \t]+[0-9.]+[ \t]+[a-z]+")  # a line that only a dictionary of jieba has
SEPARATORS = (",", ";", "|", "，", "；", "｜")  # that no list of words has in every line
MIN_LINES = 3  # in fewer, a separator may be part of each word
MIN_DIM = 3  # fewer numbers after a word are not taken for a vector


def read_any(path: Union[str, Path], format: str = "auto", **settings: Any) -> EntryStream:
    """Read a file of words or vectors, or a saved lexicon.

    path (Union[str, Path]): A file, plain or compressed, or the folder of a lexicon.
    format (str): One of READERS, or "auto". Ignored for a folder.
    settings (Any): Settings of the reader, such as `limit`, `encoding`, `errors`.
    RETURNS (EntryStream): The entries. Raises LexiconError if there are none.
    """
    path = Path(path)
    if path.is_dir():
        return EntryStream(str(path), enumerate(Lexicon.open(path).entries(), 1))
    if format == "auto":
        format = detect_format(path, settings.get("encoding", "utf8"), settings.get("errors", "strict"))
    if format not in READERS:
        raise LexiconError(f"Unknown format {format!r}. Use auto, {', '.join(READERS)}.")
    return READERS[format](path, **settings)


def detect_format(
    path: Union[str, Path], encoding: str = "utf8", errors: str = "strict", *, has_columns: bool = False
) -> str:
    """Guess the format from a file's first lines: "vectors" for a word and three or more numbers, with or without a
    header; "jieba" for a word, a number and perhaps a tag, also if these are missing in less than half of the lines and
    another line has both; "table" for .csv and for columns separated by tabs; "words" for anything else. `has_columns`
    says that table columns were named: a tab-separated file is then a table unless every line is a word and a vector.
    Raises LexiconError for vectors of which some are damaged, for JSON and spreadsheets, and for tables whose columns
    are separated by anything but tabs."""
    path = Path(path)
    if is_csv(path):
        return "table"
    if unread := UNREAD & set(map(str.lower, path.suffixes)):
        raise LexiconError(
            f"{path}: {unread.pop()} files are not read. Write one word per line, or save a table as .csv."
        )
    first = islice(read_lines(path, encoding=encoding, errors=errors), N_SAMPLE)
    numbered = [(number, line) for number, line in first if line.strip()]
    lines = [line for _, line in numbered]
    rows = [line.split() for line in lines]
    tabs = bool(lines) and all("\t" in line for line in lines)
    if has_columns and tabs and not all(len(row) > MIN_DIM and all(map(_is_number, row[1:])) for row in rows):
        return "table"
    if _are_vectors(rows) or (len(rows) > 1 and _is_header(rows[0], rows[1]) and _are_vectors(rows[1:], 1)):
        return "vectors"
    _refuse_broken_vectors(path, numbered)
    if _are_jieba(lines):
        return "jieba"
    if not tabs:
        _refuse_other_tables(path, lines)
    return "table" if tabs else "words"


def _are_vectors(rows: List[List[str]], min_dim: int = MIN_DIM) -> bool:
    return bool(rows) and all(len(row) > min_dim and all(map(_is_number, row[-min_dim:])) for row in rows)


def _refuse_broken_vectors(path: Path, numbered: List[Tuple[int, str]]) -> None:
    """Raise LexiconError if most lines, but not all, are a word and its vector: read in another format, such a file
    would give a lexicon without vectors."""
    rows = [line.split() for _, line in numbered]
    good = [_are_vectors([row]) and _is_number(row[1]) for row in rows]
    if 2 * sum(good) >= max(1, len(good)):
        number, line = numbered[good.index(False)]
        raise LexiconError(
            f"{path}:{number}: {quote(line)} is not a word and its vector, unlike most of the first {len(good)} lines. "
            'Correct or remove this line, or set the format: "vectors" skips such lines.'
        )


def _refuse_other_tables(path: Path, lines: List[str]) -> None:
    """Raise LexiconError if every line has the same separator: each would be read as one word."""
    for separator in SEPARATORS:
        if len(lines) >= MIN_LINES and all(separator in line.strip().strip(separator) for line in lines):
            raise LexiconError(
                f"{path}: each of the first {len(lines)} lines has a {separator!r}, as in {quote(lines[0])}. For a "
                'table, use tabs, or commas and a name that ends in .csv; for a list of words, set the format "words".'
            )


def _is_header(first: List[str], second: List[str]) -> bool:
    return len(first) == 2 and first[0].isdecimal() and first[1] == str(len(second) - 1)


def _are_jieba(lines: List[str]) -> bool:
    n_jieba = sum(map(_is_jieba, lines))
    tagged = any(TAGGED.fullmatch(line.strip()) for line in lines)
    return bool(lines) and (n_jieba == len(lines) or (tagged and 2 * n_jieba >= len(lines)))


def _is_jieba(line: str) -> bool:
    if "\t" in line:
        cells = line.split("\t")
        return len(cells) <= 3 and FREQUENCY.fullmatch(cells[1].strip()) is not None
    return any(map(FREQUENCY.fullmatch, line.split()[1:][-2:]))  # a word may contain spaces


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
