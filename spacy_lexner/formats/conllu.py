"""CoNLL-U, the format of Universal Dependencies: words and parts of speech. Trees are not read."""

import re
from typing import Iterable, Iterator, List, NamedTuple, Optional, Sequence

from ..lexicon.limits import quote, shorten, to_int
from .record import FormatError, ReadOptions, Record
from .report import Report
from .source import Source, read_lines
from .words import make_word_record, universal

N_COLUMNS = 10
COUNTER = re.compile(r"(?P<first>[0-9]+)(?:-(?P<last>[0-9]+)|\.(?P<empty>[0-9]+))?")
TEXT = re.compile(r"# *text *= *(.*)")
SPACES = re.compile(r"\s*")
NO_SPACE = "SpaceAfter=No"
UNKNOWN_SPACES = "file without information on spaces: set only between Latin words"
NOT_UNIVERSAL = "part of speech that is not universal: left out"
OTHER_TEXT = "words that do not spell the sentence's text: words kept"


class Row(NamedTuple):
    """A line with a word."""

    number: int
    word: str  # FORM
    pos: str  # UPOS, "" for _
    tag: str  # XPOS, "" for _
    space: bool  # whether a space follows, by MISC


class Sentence(NamedTuple):
    """A sentence: its words, and its text if a comment gives it."""

    rows: List[Row]
    text: Optional[str]


def is_conllu(lines: Iterable[str]) -> bool:
    """Whether the first line that is neither blank nor a comment has the columns of CoNLL-U."""
    for line in lines:
        if line.strip() and not line.startswith("#"):
            columns = line.split("\t")
            return len(columns) == N_COLUMNS and COUNTER.fullmatch(columns[0]) is not None
    return False


def read_conllu(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read the sentences of a CoNLL-U file. A contraction is one word without a part of speech; empty nodes are left
    out. Spaces come from the comment `# text`, else from SpaceAfter if the file uses it (it is read twice to find out);
    otherwise there are only spaces between words in Latin letters."""
    spaced = any(_is_joined(line.split("\t")[-1]) for _, line in read_lines(source, options, Report()))
    reported = spaced
    empty = True
    for rows, text in _read_sentences(source, options, report):
        empty = False
        place = f"{source.name}:{rows[0].number}"
        words = [row.word for row in rows]
        spaces = None if text is None else align_spaces(words, text)
        if text is not None and spaces is None:
            if not options.repair:
                raise FormatError(
                    f"{place}: the words are {quote(' '.join(words))}, but the sentence's text is "
                    f"{quote(text)}. To keep the words, repair it (--repair)."
                )
            report.add_problem(OTHER_TEXT, place)
        if spaces is None and spaced:
            spaces = [row.space for row in rows[:-1]] + [False]
        if spaces is None and not reported:
            report.add_problem(UNKNOWN_SPACES, source.name)
            reported = True
        pos, tags = [row.pos for row in rows], [row.tag for row in rows]
        yield make_word_record(words, place, report, spaces=spaces, pos=pos, tags=tags)
    if empty:
        raise FormatError(f"{source.name}: the file has no sentence.")


def align_spaces(words: Sequence[str], text: str) -> Optional[List[bool]]:
    """Whether a space follows each word in a text; None if the words do not spell the text."""
    text = text.strip()
    spaces = []
    end = 0
    for word in words:
        if not text.startswith(word, end):
            return None
        begin, end = SPACES.match(text, end + len(word)).span()  # type: ignore[union-attr]
        spaces.append(begin < end)
    return spaces if end == len(text) else None


def _read_sentences(source: Source, options: ReadOptions, report: Report) -> Iterator[Sentence]:
    rows: List[Row] = []
    text: Optional[str] = None
    contracted = 0  # number of the last word of the last contraction
    for number, line in read_lines(source, options, report):
        if not line.strip():
            if rows:
                yield Sentence(rows, text)
            rows, text, contracted = [], None, 0
        elif line.startswith("#"):
            match = TEXT.fullmatch(line)
            text = text if match is None else match[1]
        else:
            columns = line.split("\t")
            place = f"{source.name}:{number}"
            counter = COUNTER.fullmatch(columns[0])
            if len(columns) != N_COLUMNS or counter is None or not columns[1].strip():
                raise FormatError(
                    f"{place}: expected the {N_COLUMNS} columns of CoNLL-U, separated by tabs and beginning with a "
                    f"number and a word. The line is {quote(line)}."
                )
            try:
                first, last = (to_int(counter[name] or "0") for name in ("first", "last"))
            except ValueError as error:
                raise FormatError(f"{place}: {error}") from None
            if counter["last"]:
                contracted = last
                rows.append(Row(number, columns[1], "", "", not _is_joined(columns[9])))
            elif not counter["empty"] and first > contracted:
                rows.append(_read_row(number, columns, place, options, report))
    if rows:
        yield Sentence(rows, text)


def _read_row(number: int, columns: List[str], place: str, options: ReadOptions, report: Report) -> Row:
    pos, tag = ("" if column == "_" else column for column in columns[3:5])
    if universal([pos]) != [pos]:
        if not options.repair:
            raise FormatError(
                f"{place}: the part of speech {quote(pos)} of {quote(columns[1])} is not universal. Leave it out "
                "(--repair); the tag in the fifth column is read in any case."
            )
        report.add_problem(NOT_UNIVERSAL, f"{place}: {shorten(pos)}")
        pos = ""
    return Row(number, columns[1], pos, tag, not _is_joined(columns[9]))


def _is_joined(misc: str) -> bool:
    """Whether MISC says that no space follows; CorrectSpaceAfter=No is another attribute."""
    return NO_SPACE in misc.split("|")
