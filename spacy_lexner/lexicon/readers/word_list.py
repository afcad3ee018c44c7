"""Plain word lists."""

from pathlib import Path
from typing import Iterator, Optional, Tuple, Union

from ..entry import EntryStream, LexiconEntry
from ..lines import read_lines, stream_entries


def read_word_list(
    path: Union[str, Path],
    *,
    limit: Optional[int] = None,
    comment: Optional[str] = None,
    encoding: str = "utf8",
    errors: str = "strict",
) -> EntryStream:
    """Read a list with a word on each line; blank lines are skipped.

    path (Union[str, Path]): The file, plain or compressed (.gz, .bz2, .xz).
    limit (Optional[int]): Maximum number of words to read.
    comment (Optional[str]): Lines that start with this are skipped; none by default, since a word may start with "#".
    encoding (str): Encoding of the file.
    errors (str): What to do with bytes that cannot be decoded: "strict", "replace" or "ignore".
    RETURNS (EntryStream): The entries. Raises LexiconError if there are none.
    """

    def numbered() -> Iterator[Tuple[int, LexiconEntry]]:
        n_words = 0
        for number, line in read_lines(Path(path), encoding=encoding, errors=errors):
            if not line.strip() or (comment is not None and line.startswith(comment)):
                continue
            if n_words == limit:
                return
            n_words += 1
            yield number, LexiconEntry(line)

    return stream_entries(Path(path), numbered())
