"""Word vectors in the text format of word2vec and fastText."""

from itertools import chain
from pathlib import Path
from typing import Iterator, NamedTuple, Optional, Tuple, Union

from ..entry import LexiconEntry
from ..errors import LexiconError
from ..stream import EntryStream
from .lines import read_lines, stream_entries
from .vector_text import parse_vector


class Header(NamedTuple):
    """The first line of a file of vectors: number of rows and dimensions."""

    n_rows: int
    dim: int


def read_word_vectors(
    path: Union[str, Path], *, limit: Optional[int] = None, encoding: str = "utf8", errors: str = "strict"
) -> EntryStream:
    """Read a file with a word and its vector on each line, with or without a header line, as a stream.

    path, limit, encoding, errors: As in `read_word_list`. The most frequent words usually come first.
    RETURNS (EntryStream): The entries. Raises LexiconError if there are none, or if the header does not fit the rows.
    """
    return stream_entries(Path(path), _read(Path(path), limit, encoding, errors))


def _read(path: Path, limit: Optional[int], encoding: str, errors: str) -> Iterator[Tuple[int, LexiconEntry]]:
    lines = read_lines(path, encoding=encoding, errors=errors)
    number, line = next(lines)
    header = _parse_header(line)
    if header is None:
        lines = chain([(number, line)], lines)
    n_rows = 0
    for number, line in lines:
        if n_rows == limit:
            return
        n_rows += 1
        word, _, numbers = line.replace("\t", " ").rstrip(" ").partition(" ")
        vector = parse_vector(numbers)
        if n_rows == 1:
            _check_dim(path, number, header, len(vector))
        yield number, LexiconEntry(word, vector)
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


def _check_dim(path: Path, number: int, header: Optional[Header], dim: int) -> None:
    if header is not None and dim != header.dim:
        raise LexiconError(
            f"{path}:{number}: the header says {header.dim} dimensions, this row has {dim or 'no'} numbers. Correct or "
            "remove the header, or give another file of vectors."
        )
    if not dim:
        raise LexiconError(f"{path}:{number}: no vector after the first word; expected a word and its numbers.")
