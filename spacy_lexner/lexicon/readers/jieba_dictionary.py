"""Dictionaries in the format of jieba."""

import re
from pathlib import Path
from typing import Iterator, Optional, Tuple, Union

from ..entry import EntryStream, LexiconEntry
from ..lines import read_lines, stream_entries

LINE = re.compile(r"(?P<word>.+?)(?:[ \t]+(?P<frequency>[0-9.]+))?(?:[ \t]+(?P<tag>[A-Za-z]\w*))?")


def read_jieba_dictionary(
    path: Union[str, Path], *, limit: Optional[int] = None, encoding: str = "utf8", errors: str = "strict"
) -> EntryStream:
    """Read a dictionary with a word, a frequency (the weight) and a part of speech (the label) on each line, separated
    by spaces or tabs. Frequency and part of speech may be missing.

    path, limit, encoding, errors: As in `read_word_list`.
    RETURNS (EntryStream): The entries. Raises LexiconError if there are none.
    """

    def numbered() -> Iterator[Tuple[int, LexiconEntry]]:
        for number, line in read_lines(Path(path), encoding=encoding, errors=errors):
            if limit is not None and number > limit:
                return
            match = LINE.fullmatch(line.strip())
            if match is None:
                yield number, LexiconEntry("")
            else:
                yield number, LexiconEntry(match["word"], None, to_weight(match["frequency"]), match["tag"] or "")

    return stream_entries(Path(path), numbered())


def to_weight(text: Optional[str]) -> float:
    """Parse a weight: 1 for no text; NaN, which makes the entry invalid, for anything but a number."""
    if not text:
        return 1.0
    try:
        return float(text)
    except ValueError:
        return float("nan")
