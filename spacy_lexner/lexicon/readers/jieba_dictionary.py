"""Dictionaries in the format of jieba."""

import re
from pathlib import Path
from typing import Iterator, Optional, Tuple, Union

from ..entry import LexiconEntry
from ..stream import EntryStream
from .lines import read_lines, require_some

LINE = re.compile(r"(?P<word>.+?)(?:[ \t]+(?P<frequency>[0-9.]+))?(?:[ \t]+(?P<tag>[A-Za-z]\w*))?")


def read_jieba_dictionary(
    path: Union[str, Path], *, limit: Optional[int] = None, encoding: str = "utf8", errors: str = "strict"
) -> EntryStream:
    """Read a dictionary with a word, a frequency and a part of speech on each line, separated by spaces or tabs;
    frequency and part of speech may be missing. They become weight and label.

    path (Union[str, Path]): The file, plain or compressed (.gz, .bz2, .xz).
    limit (Optional[int]): Read so many words.
    encoding (str): Encoding of the file.
    errors (str): What happens to bytes that make no sense in it: "strict", "replace" or "ignore".
    RETURNS (EntryStream): The entries. Raises LexiconError where there are none.
    """
    path = Path(path)
    return EntryStream(str(path), require_some(path, _read(path, limit, encoding, errors)))


def _read(path: Path, limit: Optional[int], encoding: str, errors: str) -> Iterator[Tuple[int, LexiconEntry]]:
    for number, line in read_lines(path, encoding=encoding, errors=errors):
        if limit is not None and number > limit:
            return
        match = LINE.fullmatch(line.strip())
        if match is None:
            yield number, LexiconEntry("")
        else:
            yield number, LexiconEntry(match["word"], None, to_weight(match["frequency"]), match["tag"] or "")


def to_weight(text: Optional[str]) -> float:
    """RETURNS (float): A number; 1 where there is none; NaN, which gets the entry skipped, for what is no number."""
    if not text:
        return 1.0
    try:
        return float(text)
    except ValueError:
        return float("nan")
