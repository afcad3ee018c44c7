"""Texts annotated with words: two formats, and helpers for all readers of words.

`word-text`: texts with spaces between the words, one text on each line, as in the SIGHAN bakeoffs.
`word-tags`: CoNLL files whose tags mark words, with or without parts of speech: a character and B-NOUN, or B, on each
line.
"""

from itertools import pairwise
from typing import Iterator, List, Optional, Sequence, Tuple

from spacy.parts_of_speech import IDS

from .conll import TaggedSentence, read_tagged
from .record import LOST_CHARACTERS, FormatError, ReadOptions, Record
from .report import Report
from .source import Source, read_lines

HAN_BEGINS, WIDE_BEGINS = "\u2e80", "\uff00"


def read_word_text(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read texts, one on each line, with spaces between the words. White space is dropped from the texts, except
    between words in Latin letters."""
    empty = True
    for number, line in read_lines(source, options, report):
        words = line.split()
        if options.space_symbol:
            words = [word.replace(options.space_symbol, " ") for word in words]
        if words:
            empty = False
            yield make_word_record(words, f"{source.name}:{number}", report)
    if empty:
        raise FormatError(f"{source.name}: the file has no text.")


def read_word_tags(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read a CoNLL file in which each tagged span is a word, and so is each line with O. A label is the word's tag, and
    also its part of speech if that is a universal one."""
    for sentence in read_tagged(source, options, report):
        words, tags = _words_of(sentence)
        if any(tags):
            yield make_word_record(words, sentence.place, report, pos=universal(tags), tags=tags)
        else:
            yield make_word_record(words, sentence.place, report)


def _words_of(sentence: TaggedSentence) -> Tuple[List[str], List[str]]:
    words: List[str] = []
    tags: List[str] = []
    end = 0
    for start, stop, label in [*sentence.spans, (len(sentence.words), len(sentence.words), "")]:
        words.extend(sentence.words[end:start])
        tags.extend([""] * (start - end))
        if start < stop:
            words.append("".join(sentence.words[start:stop]))
            tags.append(label)
        end = stop
    return words, tags


def make_word_record(
    words: Sequence[str],
    place: str,
    report: Report,
    *,
    spaces: Optional[Sequence[bool]] = None,
    pos: Optional[Sequence[str]] = None,
    tags: Optional[Sequence[str]] = None,
) -> Record:
    """Make the record of a text annotated with words; `pos` are universal parts of speech, `tags` others. `spaces` says
    whether a space follows each word; if None, one follows where two words would otherwise run together. The report
    counts the words and collects lost characters."""
    spaces = guess_spaces(words) if spaces is None else tuple(spaces)
    text = "".join(word + " " * space for word, space in zip(words, spaces))
    if "\ufffd" in text:
        report.add_problem(LOST_CHARACTERS, place)
    report.n_words += len(words)
    columns = (None if column is None else tuple(column) for column in (pos, tags))
    return Record(text, tuple(words), None, place, spaces, True, *columns)


def guess_spaces(words: Sequence[str]) -> Tuple[bool, ...]:
    """Whether a space follows each word of a Chinese text: only between letters or digits that are not Han characters,
    as in Iron Man or 95 km."""
    between = (runs_on(left[-1:]) and runs_on(right[:1]) for left, right in pairwise(words))
    return (*between, False) if words else ()


def runs_on(character: str) -> bool:
    """Whether a character is a letter or digit that would run together with another one."""
    return character.isalnum() and (character < HAN_BEGINS or character >= WIDE_BEGINS)


def universal(tags: Sequence[str]) -> List[str]:
    """Replace tags that are not universal parts of speech by ""."""
    return [tag if tag in IDS else "" for tag in tags]
