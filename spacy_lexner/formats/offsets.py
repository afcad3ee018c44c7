"""The units in which tools count offsets: an emoji is one code point, two UTF-16 units, or part of a grapheme cluster
of several code points."""

from itertools import accumulate
from typing import Dict, Optional

import regex

CODE_POINTS, UTF_16, GRAPHEMES = UNITS = ("code-points", "utf-16", "graphemes")
CLUSTER = regex.compile(r"\X")
LAST_OF_BMP = "\uffff"  # characters beyond it take two UTF-16 units


class Offsets:
    """The offsets of one text in one of UNITS: "utf-16" as JavaScript and Java count, "graphemes" as a reader does."""

    def __init__(self, text: str, unit: str) -> None:
        if unit not in UNITS:
            raise ValueError(f"The unit of offsets is {unit!r}; expected one of {', '.join(UNITS)}.")
        self._length = len(text)
        self._outward: Optional[Dict[int, int]] = None  # None: the same as in Python
        if unit == UTF_16 and text and max(text) > LAST_OF_BMP:
            widths = (2 if character > LAST_OF_BMP else 1 for character in text)
            self._outward = dict(enumerate(accumulate(widths, initial=0)))
        elif unit == GRAPHEMES:
            borders = [0, *(match.end() for match in CLUSTER.finditer(text))]
            self._outward = {offset: i for i, offset in enumerate(borders)}
        self._inward = None if self._outward is None else {there: here for here, there in self._outward.items()}

    def encode(self, offset: int) -> Optional[int]:
        """Convert an offset of the Python string to these units; None inside a unit, or outside the text."""
        if self._outward is not None:
            return self._outward.get(offset)
        return offset if 0 <= offset <= self._length else None

    def decode(self, offset: int) -> Optional[int]:
        """Convert an offset to one of the Python string; None inside a character, or outside the text."""
        if self._inward is not None:
            return self._inward.get(offset)
        return offset if 0 <= offset <= self._length else None
