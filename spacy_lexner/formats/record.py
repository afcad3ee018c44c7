"""What every reader in this folder yields: a text, how the file splits it into words, and its entities."""

from dataclasses import dataclass
from typing import List, NamedTuple, Optional, Tuple

from .offsets import UNITS

LOST_CHARACTERS = "text with U+FFFD: characters that were lost before, such as emoji cut in two"


class Entity(NamedTuple):
    """An entity: characters `start` to `end` (exclusive) of a text, and its label."""

    start: int
    end: int
    label: str


class Record(NamedTuple):
    """One text of a file."""

    text: str
    words: Optional[Tuple[str, ...]]  # as the file splits the text, if it does; with their spaces they spell the text
    entities: Optional[List[Entity]]  # None if the text is unannotated
    place: str  # the file and the line where it begins
    spaces: Optional[Tuple[bool, ...]] = None  # whether a space follows each word; None if none does
    segmented: bool = False  # whether the words are annotation, not just the lines of the file
    pos: Optional[Tuple[str, ...]] = None  # the universal part of speech of each word, or ""
    tags: Optional[Tuple[str, ...]] = None  # the tag of each word, or ""


class FormatError(ValueError):
    """A file is not in its format. The message names file and line, what was expected, and the remedy."""


@dataclass(frozen=True)
class ReadOptions:
    """How files are read. Each reader uses the options that concern it.

    encoding (str): The encoding.
    errors (str): What to do with bytes that cannot be decoded: "strict" raises an error with file and line, "replace"
        inserts U+FFFD and reports the line.
    repair (bool): Repair what can be repaired, and report it, instead of raising an error.
    scheme (str): The tag scheme of CoNLL files, or "auto".
    digit_suffix (str): Whether each word of a CoNLL file ends with a digit that is not text, as in the first edition of
        the Weibo set (名0): "yes", "no", or "auto": yes if all words of the file do.
    space_symbol (str): The symbol for a space in CoNLL files, such as ␣; none by default.
    offsets (str): What a tool's offsets count: "code-points", "utf-16", "graphemes", or "auto" for the tool's own unit.
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
                raise FormatError(f"{name} must be one of {', '.join(choices)}, but is {value!r}.")
