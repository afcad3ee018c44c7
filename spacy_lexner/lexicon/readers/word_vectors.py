"""Word vectors in the text format of word2vec and fastText."""

from itertools import chain
from pathlib import Path
from typing import Iterator, NamedTuple, Optional, Tuple, Union

from ..entry import LexiconEntry
from ..errors import LexiconError
from ..stream import EntryStream
from .lines import read_lines, require_some
from .vector_text import parse_vector


class Header(NamedTuple):
    """What a file of vectors says about itself: number of rows and dimensions."""

    n_rows: int
    dim: int


def read_word_vectors(
    path: Union[str, Path], *, limit: Optional[int] = None, encoding: str = "utf8", errors: str = "strict"
) -> EntryStream:
    """Read a file with a word and its vector on each line, with or without a header line. It is read as a stream, so
    that files of any size can be.

    path (Union[str, Path]): The file, plain or compressed (.gz, .bz2, .xz).
    limit (Optional[int]): Read so many rows. The most frequent words usually come first.
    encoding (str): Encoding of the file.
    errors (str): What happens to bytes that make no sense in it: "strict", "replace" or "ignore".
    RETURNS (EntryStream): The entries. Raises LexiconError where there are none, and where the header does not agree
        with the rows.
    """
    path = Path(path)
    return EntryStream(str(path), require_some(path, _read(path, limit, encoding, errors)))


def _read(path: Path, limit: Optional[int], encoding: str, errors: str) -> Iterator[Tuple[int, LexiconEntry]]:
    lines = read_lines(path, encoding=encoding, errors=errors)
    number, line = next(lines)
    header = _parse_header(line)
    if header is None:
        lines = chain([(number, line)], lines)
    n_rows, dim = 0, None
    for number, line in lines:
        if n_rows == limit:
            return
        n_rows += 1
        entry = _parse_row(line)
        if dim is None:
            dim = 0 if entry.vector is None else len(entry.vector)
            _check_dim(path, number, header, dim)
        yield number, entry
    if header is not None and n_rows != header.n_rows:
        raise LexiconError(
            f"{path}: the header says {header.n_rows} rows, the file has {n_rows}: it is cut short, or its header is "
            "wrong. Get the whole file, or correct or remove the header."
        )


def _parse_header(line: str) -> Optional[Header]:
    fields = line.split()
    if len(fields) == 2 and all(field.isascii() and field.isdigit() for field in fields):
        return Header(int(fields[0]), int(fields[1]))
    return None


def _parse_row(line: str) -> LexiconEntry:
    word, _, numbers = line.replace("\t", " ").rstrip(" ").partition(" ")
    return LexiconEntry(word, parse_vector(numbers))


def _check_dim(path: Path, number: int, header: Optional[Header], dim: int) -> None:
    if header is not None and dim != header.dim:
        raise LexiconError(
            f"{path}:{number}: the header says {header.dim} dimensions, this row has {dim or 'no'} numbers. Correct or "
            "remove the header, or name the file of vectors that is meant."
        )
    if not dim:
        raise LexiconError(f"{path}:{number}: no vector after the first word; expected a word and its numbers.")
