"""What the readers of annotated words share: their spelling, and records of them."""

from itertools import pairwise
from typing import List, Optional, Sequence, Tuple

from spacy.parts_of_speech import IDS

from .record import LOST_CHARACTERS, Record
from .report import Report

HAN_BEGINS, WIDE_BEGINS = "\u2e80", "\uff00"


def make_word_record(
    words: Sequence[str],
    place: str,
    report: Report,
    *,
    spaces: Optional[Sequence[bool]] = None,
    pos: Optional[Sequence[str]] = None,
    tags: Optional[Sequence[str]] = None,
) -> Record:
    """Make the record of a text that is annotated with its words.

    words (Sequence[str]): The words.
    place (str): The file and the line where the text begins.
    report (Report): Gets lost characters, and the number of words.
    spaces (Optional[Sequence[bool]]): Whether a space follows each word. None where the file does not say: then one
        does where two words would run into one.
    pos (Optional[Sequence[str]]), tags (Optional[Sequence[str]]): Universal and other parts of speech.
    RETURNS (Record): The record.
    """
    spaces = guess_spaces(words) if spaces is None else tuple(spaces)
    text = "".join(word + " " * space for word, space in zip(words, spaces))
    if "\ufffd" in text:
        report.add_problem(LOST_CHARACTERS, place)
    report.n_words += len(words)
    columns = (None if column is None else tuple(column) for column in (pos, tags))
    return Record(text, tuple(words), None, place, spaces, True, *columns)


def guess_spaces(words: Sequence[str]) -> Tuple[bool, ...]:
    """Say where spaces have to stand, as in Iron Man or 95 km.

    words (Sequence[str]): The words of a Chinese text.
    RETURNS (Tuple[bool, ...]): Whether one follows each word: between letters or digits that are no Han characters.
    """
    between = (runs_on(left[-1:]) and runs_on(right[:1]) for left, right in pairwise(words))
    return (*between, False) if words else ()


def runs_on(character: str) -> bool:
    """RETURNS (bool): Whether a character is a letter or a digit of the kind that words are spelled with."""
    return character.isalnum() and (character < HAN_BEGINS or character >= WIDE_BEGINS)


def universal(tags: Sequence[str]) -> List[str]:
    """RETURNS (List[str]): Those of the tags that are universal parts of speech, "" in place of the others."""
    return [tag if tag in IDS else "" for tag in tags]
