"""Plain word lists."""

from pathlib import Path
from typing import Iterator, Optional, Tuple, Union

from ..entry import LexiconEntry
from ..stream import EntryStream
from .lines import read_lines, require_some


def read_word_list(
    path: Union[str, Path],
    *,
    limit: Optional[int] = None,
    comment: Optional[str] = None,
    encoding: str = "utf8",
    errors: str = "strict",
) -> EntryStream:
    """Read a list with a word on each line.

    path (Union[str, Path]): The file, plain or compressed (.gz, .bz2, .xz).
    limit (Optional[int]): Read so many words.
    comment (Optional[str]): Lines that begin with this hold no word; by default there are no comments, since "#" may
        begin a word.
    encoding (str): Encoding of the file.
    errors (str): What happens to bytes that make no sense in it: "strict", "replace" or "ignore".
    RETURNS (EntryStream): The entries. Raises LexiconError where there are none.
    """
    path = Path(path)
    numbered = _read(path, limit, comment, encoding, errors)
    return EntryStream(str(path), require_some(path, numbered))


def _read(
    path: Path, limit: Optional[int], comment: Optional[str], encoding: str, errors: str
) -> Iterator[Tuple[int, LexiconEntry]]:
    n_words = 0
    for number, line in read_lines(path, encoding=encoding, errors=errors):
        if comment is not None and line.startswith(comment):
            continue
        if n_words == limit:
            return
        n_words += 1
        yield number, LexiconEntry(line.strip())
