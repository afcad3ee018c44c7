"""Every format that can be read. A new one is a file with a reader and a line here."""

from typing import Callable, Dict, Iterator

from .clue import read_clue
from .conll import read_conll
from .conllu import is_conllu, read_conllu
from .record import FormatError, ReadOptions, Record
from .report import Report
from .source import Source, read_lines
from .word_tags import read_word_tags
from .word_text import read_word_text

ReaderT = Callable[[Source, ReadOptions, Report], Iterator[Record]]
READERS: Dict[str, ReaderT] = {
    "conll": read_conll,
    "clue": read_clue,
    "conllu": read_conllu,
    "word-tags": read_word_tags,
    "word-text": read_word_text,
}


def read_records(source: Source, format: str, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read a file and count its texts.

    source (Source): The file.
    format (str): One of READERS, or "auto".
    options (ReadOptions): How it is read.
    report (Report): Gets the counts, and what was mended.
    YIELDS (Record): The texts.
    """
    if format == "auto":
        format = detect_format(source, options)
    if format not in READERS:
        raise FormatError(f"There is no format {format!r}. Use auto or one of: {', '.join(READERS)}")
    for record in READERS[format](source, options, report):
        report.n_texts += 1
        report.n_characters += len(record.text)
        yield record


def detect_format(source: Source, options: ReadOptions) -> str:
    """Guess the format of a file from its first line with text. That tags are words (`word-tags`), or that each line is
    a text in words (`word-text`), has to be said.

    source (Source): The file.
    options (ReadOptions): How it is read.
    RETURNS (str): The format: conllu, clue or conll.
    """
    if is_conllu(line for _, line in read_lines(source, options, Report())):
        return "conllu"
    for _, line in read_lines(source, options, Report()):
        if line.strip():
            return "clue" if line.lstrip().startswith("{") and line.rstrip().endswith("}") else "conll"
    raise FormatError(f"{source.name}: the file is empty.")
