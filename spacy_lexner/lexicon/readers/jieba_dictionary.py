"""Dictionaries in the format of jieba."""

import re
from itertools import islice
from pathlib import Path
from typing import Iterator, Optional, Tuple, Union

from ..entry import EntryStream, LexiconEntry
from ..lines import read_lines, stream_entries

# A word may contain spaces, so a tag without a frequency must be in lower case: "Apple Watch" is a word. After a
# frequency, a tag may begin with any letter (地名) and hold any signs (n-x).
NUMBER, TAG = r"(?P<frequency>[+-]?\.?[0-9][0-9.]*(?:[Ee][+-]?[0-9]+)?)", r"(?P<tag>[^\W\d_]\S*)"
LINE = re.compile(rf"(?P<word>.+?)(?:[ \t]+{NUMBER}(?:[ \t]+{TAG})?|[ \t]+(?P<bare_tag>[a-z]\w*))?")


def read_jieba_dictionary(
    path: Union[str, Path], *, limit: Optional[int] = None, encoding: str = "utf8", errors: str = "strict"
) -> EntryStream:
    """Read a dictionary with a word, a frequency (the weight) and a part of speech (the label) on each line, separated
    by spaces or tabs. Frequency and part of speech may be missing; without a frequency, only a part of speech in lower
    case is one. Blank lines are skipped.

    path, limit, encoding, errors: As in `read_word_list`.
    RETURNS (EntryStream): The entries. Raises LexiconError if there are none.
    """

    def numbered() -> Iterator[Tuple[int, LexiconEntry]]:
        lines = read_lines(Path(path), encoding=encoding, errors=errors)
        written = ((number, line.strip()) for number, line in lines if line.strip())
        for number, line in islice(written, limit):
            match = LINE.fullmatch(line)
            if match is None:
                yield number, LexiconEntry("")
            else:
                tag = match["tag"] or match["bare_tag"] or ""
                yield number, LexiconEntry(match["word"], None, to_weight(match["frequency"]), tag)

    return stream_entries(Path(path), numbered())


def to_weight(text: Optional[str]) -> float:
    """Parse a weight: 1 for no text; NaN, which makes the entry invalid, for anything but a number."""
    if not text:
        return 1.0
    try:
        return float(text)
    except ValueError:
        return float("nan")
