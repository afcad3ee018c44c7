"""The record that every reader yields (a text, its words if the file has any, its entities), and reading options."""

from dataclasses import dataclass
from typing import List, NamedTuple, Optional, Tuple

from ..lexicon.limits import quote
from .offsets import UNITS
from .tags import SCHEMES

LOST_CHARACTERS = "text with U+FFFD: characters lost by an earlier conversion, such as emoji cut in two"


class Entity(NamedTuple):
    """An entity: characters `start` to `end` (exclusive) of a text, and its label."""

    start: int
    end: int
    label: str


class Record(NamedTuple):
    """One text of a file."""

    text: str
    words: Optional[Tuple[str, ...]]  # if the file has any; with their spaces they spell the text
    entities: Optional[List[Entity]]  # None if the text is unannotated
    place: str  # the file and the line where it begins
    spaces: Optional[Tuple[bool, ...]] = None  # whether a space follows each word; None if none does
    segmented: bool = False  # whether the words are annotated, not just the lines of the file
    pos: Optional[Tuple[str, ...]] = None  # the universal part of speech of each word, or ""
    tags: Optional[Tuple[str, ...]] = None  # the tag of each word, or ""


class FormatError(ValueError):
    """A file is invalid. The message names file and line, what was expected, and the remedy."""


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading files. Each reader uses those that apply to it.

    encoding (str): The encoding.
    errors (str): What to do with bytes that cannot be decoded: "strict" raises an error with file and line, "replace"
        inserts U+FFFD and reports the line.
    repair (bool): Repair errors if possible, and report them, instead of raising.
    scheme (str): The tag scheme of CoNLL files, or "auto".
    digit_suffix (str): Whether each word of a CoNLL file ends with a digit that is not text, as in the first edition of
        the Weibo set (名0): "yes", "no", or "auto": yes if all words of the file do.
    space_symbol (str): The symbol for a space in CoNLL files, such as ␣; none by default.
    offsets (str): The unit of a tool's offsets: "code-points", "utf-16", "graphemes", or "auto" for the tool's own.
    """

    encoding: str = "utf-8"
    errors: str = "strict"
    repair: bool = False
    scheme: str = "auto"
    digit_suffix: str = "auto"
    space_symbol: str = ""
    offsets: str = "auto"

    def __post_init__(self) -> None:
        allowed = {"errors": ("strict", "replace"), "digit_suffix": ("auto", "yes", "no"), "offsets": ("auto", *UNITS)}
        for name, choices in allowed.items():
            value = getattr(self, name)
            if value not in choices:
                raise FormatError(f"{name} is {value!r}; expected one of {', '.join(choices)}.")
        if self.scheme not in ("auto", *SCHEMES):
            raise FormatError(f"Unknown tag scheme {self.scheme!r}. Use auto or one of: {', '.join(SCHEMES)}")
        try:
            "".encode(self.encoding)
        except (LookupError, ValueError):  # also for codecs that are no text encoding, such as hex
            raise FormatError(f"Unknown encoding {quote(self.encoding)}. Try utf-8, gb18030 or big5.") from None
