"""Word vectors in the text format of word2vec and fastText."""

from itertools import chain, takewhile
from pathlib import Path
from typing import Iterator, Optional, Tuple, Union

import numpy as np
import srsly

from .entry import EntryStream, LexiconEntry
from .errors import LexiconError
from .limits import to_int
from .lines import read_lines, stream_entries

PLAIN = b"0123456789.- "


def read_word_vectors(
    path: Union[str, Path], *, limit: Optional[int] = None, encoding: str = "utf8", errors: str = "strict"
) -> EntryStream:
    """Read a file with a word and its vector on each line, with or without a header line, as a stream. Words may
    contain single spaces: the vector is as many of the last fields as the header says, or as the first line has.
    Blank lines are skipped.

    path, limit, encoding, errors: As in `read_word_list`. The most frequent words usually come first.
    RETURNS (EntryStream): The entries. Raises LexiconError if there are none, or if the header does not match the rows.
    """
    return stream_entries(Path(path), _read(Path(path), limit, encoding, errors))


def _read(path: Path, limit: Optional[int], encoding: str, errors: str) -> Iterator[Tuple[int, LexiconEntry]]:
    lines = read_lines(path, encoding=encoding, errors=errors)
    number, line = next(lines)
    header = _parse_header(path, line)
    if header is None:
        lines = chain([(number, line)], lines)
    n_rows = dim = 0
    for number, line in lines:
        if n_rows == limit:
            return
        if not line.strip():
            continue
        n_rows += 1
        line = line.replace("\t", " ").rstrip(" ")
        word, _, numbers = line.partition(" ")
        vector = parse_vector(numbers)
        if n_rows == 1:
            n_numbers = len(vector) or _count_last_numbers(numbers)
            _check_dim(path, number, header[1] if header else None, n_numbers)
            dim = n_numbers
        if len(vector) != dim:
            word, vector = _split_last(line, dim) or (word, vector)
        yield number, LexiconEntry(word, vector)
    if header and n_rows != header[0]:
        raise LexiconError(
            f"{path}: the header says {header[0]} rows, the file has {n_rows}: it is truncated, or its header is "
            "wrong. Get the complete file, or correct or remove the header."
        )


def _parse_header(path: Path, line: str) -> Optional[Tuple[int, int]]:
    """The number of rows and of dimensions, if that is what the first line of the file holds."""
    fields = line.split()
    if len(fields) == 2 and all(field.isascii() and field.isdigit() for field in fields):
        try:
            return to_int(fields[0]), to_int(fields[1])
        except ValueError as error:
            raise LexiconError(f"{path}:1: {error}") from None
    return None


def _count_last_numbers(line: str) -> int:
    """How many numbers a line ends in."""
    fields = reversed(line.split())
    return sum(1 for _ in takewhile(lambda field: len(parse_vector(field)), fields))


def _split_last(line: str, dim: int) -> Optional[Tuple[str, np.ndarray]]:
    """The word, which may contain spaces, and the vector in the last `dim` fields; None if they are not numbers."""
    word, *numbers = line.rsplit(" ", dim)
    vector = parse_vector(" ".join(numbers))
    return (word, vector) if len(vector) == dim else None


def _check_dim(path: Path, number: int, expected: Optional[int], dim: int) -> None:
    if expected is not None and dim != expected:
        raise LexiconError(
            f"{path}:{number}: the header says {expected} dimensions, this row has {dim or 'no'} numbers. Correct or "
            "remove the header, or give another file of vectors."
        )
    if not dim:
        raise LexiconError(f"{path}:{number}: no vector after the first word; expected a word and its numbers.")


def parse_vector(text: str) -> np.ndarray:
    """float32[n] from numbers separated by spaces; for anything else a vector of length 0, which is invalid."""
    try:
        if _is_plain(text):  # then a JSON parser can read it, several times faster than float()
            return np.array(srsly.json_loads(f"[{text.replace(' ', ',')}]"), "f4")
    except ValueError:
        pass  # two spaces, or no digit before the point
    try:
        return np.array([float(number) for number in text.split()], "f4")
    except ValueError:
        return np.zeros(0, "f4")


def _is_plain(text: str) -> bool:
    """Whether all numbers are plain decimals. The JSON parser would read only the first half of others."""
    if not text.isascii() or text.encode("ascii").translate(None, PLAIN):
        return False
    return not ("- " in text or "-." in text or text.endswith("-"))
