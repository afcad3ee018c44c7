"""What every reader of this folder gives: a text, how the file cuts it into words, and its entities."""

from dataclasses import dataclass
from typing import List, NamedTuple, Optional, Tuple

from .offsets import UNITS

LOST_CHARACTERS = "text with U+FFFD: characters that were lost before, such as emoji cut in two"


class Entity(NamedTuple):
    """An entity of a text.

    start (int): Its first character.
    end (int): The character behind its last one.
    label (str): Its label.
    """

    start: int
    end: int
    label: str


class Record(NamedTuple):
    """One text of a file.

    text (str): The text.
    words (Optional[Tuple[str, ...]]): The words that the file cuts it into, or None. With their spaces they are the
        text.
    entities (Optional[List[Entity]]): Its entities, or None where it is not annotated.
    place (str): The file and the line where it begins.
    spaces (Optional[Tuple[bool, ...]]): Whether a space follows each word; None if none does.
    segmented (bool): Whether the words are annotation, and not only what the file has on its lines.
    pos (Optional[Tuple[str, ...]]): The universal part of speech of each word, or "".
    tags (Optional[Tuple[str, ...]]): The tag of each word, or "".
    """

    text: str
    words: Optional[Tuple[str, ...]]
    entities: Optional[List[Entity]]
    place: str
    spaces: Optional[Tuple[bool, ...]] = None
    segmented: bool = False
    pos: Optional[Tuple[str, ...]] = None
    tags: Optional[Tuple[str, ...]] = None


class FormatError(ValueError):
    """A file is not what it should be. The message names file and line, what was expected, and the remedy."""


@dataclass(frozen=True)
class ReadOptions:
    """How files are read. Each reader uses what concerns it.

    encoding (str): The encoding.
    errors (str): What is done with bytes that are not text in it: "strict" raises an error with file and line,
        "replace" puts U+FFFD and reports the line.
    repair (bool): Mend what can be mended, and report it, instead of raising an error.
    scheme (str): The tag scheme of CoNLL files, or "auto".
    digit_suffix (str): Whether each word of a CoNLL file ends with a digit that is not text, as in the first edition of
        the Weibo set (名0): "yes", "no" or "auto", which says yes if all words of the file do.
    space_symbol (str): The symbol that stands for a space in CoNLL files, such as ␣. By default none.
    offsets (str): What annotation tools count places in: "code-points", "utf-16", "graphemes", or "auto" for what the
        format's own tool counts.
    """

    encoding: str = "utf-8"
    errors: str = "strict"
    repair: bool = False
    scheme: str = "auto"
    digit_suffix: str = "auto"
    space_symbol: str = ""
    offsets: str = "auto"

    def __post_init__(self) -> None:
        allowed = {
            "errors": ("strict", "replace"),
            "digit_suffix": ("auto", "yes", "no"),
            "offsets": ("auto", *UNITS),
        }
        for name, choices in allowed.items():
            value = getattr(self, name)
            if value not in choices:
                raise FormatError(f"{name} must be one of {', '.join(choices)}, but is {value!r}.")
