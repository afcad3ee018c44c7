"""Texts with a space between the words, as in the SIGHAN bakeoffs: one on each line."""

from typing import Iterator

from .record import FormatError, ReadOptions, Record
from .report import Report
from .source import Source, read_lines
from .words import make_word_record


def read_word_text(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read a file with a text on each line. Any white space stands between words. The text has none of it, except where
    Latin words would run into one.

    source (Source): The file.
    options (ReadOptions): How it is read.
    report (Report): Gets the number of words.
    YIELDS (Record): The texts. Raises FormatError where there is none.
    """
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
