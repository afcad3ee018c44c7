"""CoNLL files: a word and its tag on each line, a blank line between sentences."""

from itertools import accumulate, pairwise
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from ..lexicon.limits import quote, shorten
from .record import LOST_CHARACTERS, Entity, FormatError, ReadOptions, Record
from .report import Report
from .source import Source, read_lines
from .tags import SCHEMES, Span, detect_scheme, read_spans, split_tag

DOCUMENT_START = "-DOCSTART-"
JOINED = "words in Latin letters side by side: joined. If the language has spaces, use spacy convert"
BEFORE_HAN = "\u2e7f"
SPACE_SYMBOLS = ("␣", "␠", "▁")  # what files write for a space that is a token


class Row(NamedTuple):
    """A line with a word: its number, first column and last column, and whether there are others between."""

    number: int
    word: str
    tag: str
    more: bool = False


class TaggedSentence(NamedTuple):
    """A sentence: its words, the spans encoded by its tags (in words), and the file and line where it begins."""

    words: List[str]
    spans: List[Span]
    place: str


class Layout(NamedTuple):
    """The layout that all lines of a file share."""

    separator: str  # between columns: a tab or a space
    digit_suffix: bool  # whether each word ends with a digit that is not text
    scheme: str  # the tag scheme, one of SCHEMES


def read_conll(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read the sentences of a CoNLL file; the tagged spans are entities."""
    for sentence in read_tagged(source, options, report):
        words, spans, place = sentence
        borders = list(accumulate(map(len, words), initial=0))
        if any(not label for _, _, label in spans):
            raise FormatError(f"{place}: the tags have no labels. An entity needs one, as in B-PER.")
        text = "".join(words)
        if "\ufffd" in text:
            report.add_problem(LOST_CHARACTERS, place)
        if any(_is_spelled(left) and _is_spelled(right) for left, right in pairwise(words)):
            report.add_problem(JOINED, place)
        entities = [Entity(borders[start], borders[end], label) for start, end, label in spans]
        yield Record(text, tuple(words), entities, place)


def _is_spelled(word: str) -> bool:
    """Whether a word is several letters of a script with spaces; files in characters have single ones."""
    return len(word) > 1 and word.isalpha() and max(word) <= BEFORE_HAN


def read_tagged(source: Source, options: ReadOptions, report: Report) -> Iterator[TaggedSentence]:
    """Read the sentences of a CoNLL file, whether the spans are entities or words. The word is the first column, the
    tag the last. A line that begins with # is a word, not a comment. The file is read twice, first for its layout."""
    layout = detect_layout(source, options)
    marks_end = SCHEMES[layout.scheme].marks_end
    for rows in _read_sentences(source, layout.separator, options, report):
        spans, violations = read_spans([split_tag(row.tag) for row in rows], marks_end=marks_end)
        for token, kind in violations:
            place = f"{source.name}:{rows[token].number}: {shorten(rows[token].word)} {shorten(rows[token].tag)}"
            if not options.repair:
                raise FormatError(f"{place}: in {layout.scheme.upper()}, {kind.split(':')[0]}. Repair it (--repair).")
            report.add_problem(kind, place)
        words = [row.word[:-1] if layout.digit_suffix else row.word for row in rows]
        for i, word in enumerate(words):
            if word in SPACE_SYMBOLS and not options.space_symbol:
                kind = f"{word}: read as text. If it stands for a space, use --space-symbol {word}"
                report.add_problem(kind, f"{source.name}:{rows[i].number}")
        if options.space_symbol:
            words = [word.replace(options.space_symbol, " ") for word in words]
        yield TaggedSentence(words, spans, f"{source.name}:{rows[0].number}")


def detect_layout(source: Source, options: ReadOptions) -> Layout:
    """Read and check a file to find its layout. Raises FormatError, with file and line, for an invalid line."""
    separator = _detect_separator(source, options)
    places: Dict[str, Row] = {}  # the first row with each tag letter
    plain_word: Optional[Row] = None  # the first row whose word has no final digit
    n_rows = 0
    no_words: Optional[str] = None  # what all first columns have been so far, instead of words
    for rows in _read_sentences(source, separator, options, Report()):
        found = _find_no_words(rows)
        no_words = found if not n_rows or found == no_words else None
        n_rows += len(rows)
        for row in rows:
            places.setdefault(row.tag[0], row)
            if plain_word is None and not (len(row.word) > 1 and row.word[-1] in "0123456789"):
                plain_word = row
    if n_rows == 0:
        raise FormatError(f"{source.name}: the file has no sentence.")
    if n_rows > 1 and no_words is not None:
        raise FormatError(
            f"{source.name}: the first column, from which words are read, has only {no_words}; the words seem to be in "
            "the second. Remove the first column."
        )
    digit_suffix = options.digit_suffix == "yes" or (options.digit_suffix == "auto" and plain_word is None)
    if digit_suffix and plain_word is not None:
        raise FormatError(
            f"{source.name}:{plain_word.number}: the word {quote(plain_word.word)} does not end with a digit. "
            "Read the file without digit suffixes (--digit-suffix no)."
        )
    return Layout(separator, digit_suffix, _choose_scheme(source, places, options))


def _find_no_words(rows: List[Row]) -> Optional[str]:
    """What the first column of a sentence has instead of words, if there are more columns: numbers of words or
    sentences, or nothing because the lines are indented."""
    if all(row.more for row in rows):
        if all(row.word.isspace() for row in rows):
            return "white space"
        if all(row.word.isdecimal() for row in rows):
            return "numbers"
    return None


def _choose_scheme(source: Source, places: Dict[str, Row], options: ReadOptions) -> str:
    if options.scheme == "auto":
        scheme = detect_scheme(places)
        if scheme is not None:
            return scheme
        if options.repair:  # the letters of all schemes are understood, so mixed schemes can be read
            return "bioes"
        found = ", ".join(f"{letter} (line {row.number})" for letter, row in places.items())
        raise FormatError(
            f"{source.name}: the tags fit no scheme of {', '.join(SCHEMES)}: they have {found}. "
            "Mixed schemes can be read with --repair."
        )
    for letter, row in places.items():
        if letter not in SCHEMES[options.scheme].letters and not options.repair:
            raise FormatError(
                f"{source.name}:{row.number}: the tag {quote(row.tag)} does not belong to {options.scheme.upper()}. "
                "Use --scheme auto or --repair."
            )
    return options.scheme


def _detect_separator(source: Source, options: ReadOptions) -> str:
    for _, line in read_lines(source, options, Report()):
        if line.strip(" \t") and not _begins_document(line):
            return "\t" if "\t" in line else " "
    return " "


def _read_sentences(source: Source, separator: str, options: ReadOptions, report: Report) -> Iterator[List[Row]]:
    rows: List[Row] = []
    for number, line in read_lines(source, options, report):
        if not line.strip(" \t") or _begins_document(line):
            if rows:
                yield rows
            rows = []
            continue
        try:
            word, tag, more = _split_columns(line, separator)
            if not word and not options.repair:
                raise ValueError("the first column is empty; expected a word. Read it as a space (--repair)")
        except ValueError as error:
            raise FormatError(f"{source.name}:{number}: {error}. The line is {quote(line)}.") from None
        if not word:
            report.add_problem("empty word: read as a space", f"{source.name}:{number}")
        rows.append(Row(number, word or " ", tag, more))
    if rows:
        yield rows


def _begins_document(line: str) -> bool:
    return line.replace("\t", " ").split(" ", 1)[0] == DOCUMENT_START


def _split_columns(line: str, separator: str) -> Tuple[str, str, bool]:
    """The first and the last column of a line, and whether there are others; the first is "" if it is empty."""
    columns = [column for column in line.split(separator) if column]
    if line.startswith(separator):
        columns.insert(0, " " if separator == " " else "")  # spaces before spaces are a word
    if len(columns) < 2:
        between = "a tab" if separator == "\t" else "a space"
        between += ", not by a comma" if "," in line[1:] else ""
        raise ValueError(f"expected a word and a tag, separated by {between}")
    if any("\r" in column for column in columns[1:]):
        raise ValueError("expected lines that end in a line feed, found a carriage return within. Convert the file")
    tag = columns[-1].rstrip(" ")
    try:
        split_tag(tag)
    except ValueError as error:
        hint = " (ten columns: is this CoNLL-U? --format conllu)" if len(columns) == 10 else ""
        raise ValueError(f"{error}{hint}") from None
    return columns[0], tag, len(columns) > 2
