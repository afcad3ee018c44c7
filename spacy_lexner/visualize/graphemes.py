"""Graphemes: the characters that a reader sees, and their appearance in pictures."""

import unicodedata
from typing import Iterator, NamedTuple

import regex

CLUSTER = regex.compile(r"\X")
UNSEEN = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}]")
EMOJI = regex.compile(r"\p{Emoji_Presentation}|\p{Regional_Indicator}|\uFE0F")
ILLEGAL = regex.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML
NEW_LINES = ("\n", "\r", "\r\n", "\v", "\f", "\x85", "\u2028", "\u2029")
CONTROL_PICTURES = 0x2400
WIDE, NARROW = 2, 1


class Grapheme(NamedTuple):
    """A user-perceived character."""

    start: int  # in code points, half-open
    end: int
    shown: str  # the text to draw; white space and invisible characters are shown as signs
    width: int  # WIDE or NARROW columns
    visible: bool  # whether it is drawn as it is
    new_line: bool  # whether a new line begins after it


def split_graphemes(text: str) -> Iterator[Grapheme]:
    """Split a text into what a reader sees as characters (extended grapheme clusters, UAX 29)."""
    for match in CLUSTER.finditer(text):
        cluster = match[0]
        shown, visible = _show(cluster)
        width = _width(shown) if visible else NARROW
        yield Grapheme(match.start(), match.end(), shown, width, visible, cluster in NEW_LINES)


def clean(text: str) -> str:
    """RETURNS (str): A text with U+FFFD in place of characters that are illegal in XML."""
    return ILLEGAL.sub("\ufffd", text)


def text_width(text: str) -> int:
    """RETURNS (int): The width of a text in columns."""
    return sum(grapheme.width for grapheme in split_graphemes(text))


def _show(cluster: str) -> "tuple[str, bool]":
    if cluster in NEW_LINES:
        return "⏎", False
    if cluster == "\t":
        return "⇥", False
    if cluster.isspace():
        return "␣", False
    code = ord(cluster[0])
    if len(cluster) == 1 and (code < 0x20 or code == 0x7F):
        return chr(CONTROL_PICTURES + min(code, 0x21)), False
    if UNSEEN.fullmatch(cluster[0]):  # at the start of a cluster, it belongs to nothing visible
        return "·", False
    if cluster[0].isspace():  # a combining mark on a space
        return "␣" + clean(cluster[1:]), True
    if unicodedata.combining(cluster[0]):
        return "\u25cc" + clean(cluster), True
    return clean(cluster), True


def _width(shown: str) -> int:
    # Characters of ambiguous width, such as quotation marks, are wide in Chinese text.
    wide = unicodedata.east_asian_width(shown[0]) in "WFA" or EMOJI.search(shown) is not None
    return WIDE if wide else NARROW
