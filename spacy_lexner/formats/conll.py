"""CoNLL files: a word and its tag on each line, a blank line between sentences."""

from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from .record import LOST_CHARACTERS, Entity, FormatError, ReadOptions, Record
from .report import Report
from .source import Source, read_lines
from .tags import SCHEMES, Span, detect_scheme, read_spans, split_tag

DOCUMENT_START = "-DOCSTART-"


class Row(NamedTuple):
    """A line with a word.

    number (int): The number of the line.
    word (str): Its first column.
    tag (str): Its last column.
    """

    number: int
    word: str
    tag: str


class TaggedSentence(NamedTuple):
    """A sentence.

    words (List[str]): Its words.
    spans (List[Span]): The spans that its tags spell.
    place (str): The file and the line where it begins.
    """

    words: List[str]
    spans: List[Span]
    place: str


class Layout(NamedTuple):
    """What is the same in all lines of a file.

    separator (str): What stands between the columns, a tab or spaces.
    digit_suffix (bool): Whether each word ends with a digit that is not text.
    scheme (str): The tag scheme.
    """

    separator: str
    digit_suffix: bool
    scheme: str


def read_conll(source: Source, options: ReadOptions, report: Report) -> Iterator[Record]:
    """Read a CoNLL file, a sentence at a time.

    source (Source): The file.
    options (ReadOptions): How it is read.
    report (Report): Gets what was mended.
    YIELDS (Record): The sentences, with what is tagged as entities. Raises FormatError, with file and line, where the
        file is wrong.
    """
    for sentence in read_tagged(source, options, report):
        record = _make_record(sentence)
        if "\ufffd" in record.text:
            report.add_problem(LOST_CHARACTERS, record.place)
        yield record


def read_tagged(source: Source, options: ReadOptions, report: Report) -> Iterator[TaggedSentence]:
    """Read a CoNLL file whose tags may stand for anything. It is read twice: first to know its columns and its scheme.

    The word is the first column and the tag the last one. Lines that begin with # hold the word #, not a comment.

    source (Source): The file.
    options (ReadOptions): How it is read.
    report (Report): Gets what was mended.
    YIELDS (TaggedSentence): The sentences. Raises FormatError, with file and line, where the file is wrong.
    """
    layout = detect_layout(source, options)
    marks_end = SCHEMES[layout.scheme].marks_end
    for rows in _read_sentences(source, layout.separator, options, report):
        spans, violations = read_spans([split_tag(row.tag) for row in rows], marks_end=marks_end)
        for token, kind in violations:
            place = f"{source.name}:{rows[token].number}: {rows[token].word} {rows[token].tag}"
            if not options.repair:
                raise FormatError(f"{place}: in {layout.scheme.upper()}, {kind.split(':')[0]}. Repair it (--repair).")
            report.add_problem(kind, place)
        words = [row.word[:-1] if layout.digit_suffix else row.word for row in rows]
        if options.space_symbol:
            words = [word.replace(options.space_symbol, " ") for word in words]
        yield TaggedSentence(words, spans, f"{source.name}:{rows[0].number}")


def detect_layout(source: Source, options: ReadOptions) -> Layout:
    """Read a file once to find its separator, whether its words have digits at their ends, and its tag scheme.

    source (Source): The file.
    options (ReadOptions): What is known about it.
    RETURNS (Layout): The layout. Raises FormatError, with file and line, where a line is wrong.
    """
    if options.scheme != "auto" and options.scheme not in SCHEMES:
        raise FormatError(f"There is no tag scheme {options.scheme!r}. Use auto or one of: {', '.join(SCHEMES)}")
    separator = _detect_separator(source, options)
    places: Dict[str, Row] = {}  # of the first tag with each letter
    plain_word: Optional[Row] = None  # the first without a digit at its end
    n_rows = 0
    for rows in _read_sentences(source, separator, options, Report()):
        n_rows += len(rows)
        for row in rows:
            places.setdefault(row.tag[0], row)
            if plain_word is None and not (len(row.word) > 1 and row.word[-1] in "0123456789"):
                plain_word = row
    if n_rows == 0:
        raise FormatError(f"{source.name}: the file has no sentence.")
    digit_suffix = options.digit_suffix == "yes" or (options.digit_suffix == "auto" and plain_word is None)
    if digit_suffix and plain_word is not None:
        raise FormatError(
            f"{source.name}:{plain_word.number}: the word {plain_word.word!r} does not end with a digit. "
            "Read the file without digit suffixes (--digit-suffix no)."
        )
    return Layout(separator, digit_suffix, _choose_scheme(source, places, options))


def _choose_scheme(source: Source, places: Dict[str, Row], options: ReadOptions) -> str:
    if options.scheme == "auto":
        scheme = detect_scheme(places)
        if scheme is not None:
            return scheme
        if options.repair:  # the letters are synonyms, so a mixture of schemes can be read
            return "bioes"
        found = ", ".join(f"{letter} (line {row.number})" for letter, row in places.items())
        raise FormatError(
            f"{source.name}: the tags fit no scheme of {', '.join(SCHEMES)}: they have {found}. "
            "Mixed schemes can be read with --repair."
        )
    for letter, row in places.items():
        if letter not in SCHEMES[options.scheme].letters and not options.repair:
            raise FormatError(
                f"{source.name}:{row.number}: the tag {row.tag!r} does not belong to {options.scheme.upper()}. "
                "Use --scheme auto or --repair."
            )
    return options.scheme


def _detect_separator(source: Source, options: ReadOptions) -> str:
    for _, line in read_lines(source, options, Report()):
        if line.strip(" \t"):
            return "\t" if "\t" in line else " "
    return " "


def _read_sentences(source: Source, separator: str, options: ReadOptions, report: Report) -> Iterator[List[Row]]:
    rows: List[Row] = []
    for number, line in read_lines(source, options, report):
        row = None
        if line.strip(" \t"):
            try:
                row = Row(number, *_split_columns(line, separator))
            except ValueError as error:
                raise FormatError(f"{source.name}:{number}: {error}. The line is {line!r}.") from None
        if row is None or row.word == DOCUMENT_START:
            if rows:
                yield rows
            rows = []
        else:
            rows.append(row)
    if rows:
        yield rows


def _split_columns(line: str, separator: str) -> Tuple[str, str]:
    """The first and the last column of a line."""
    columns = [column for column in line.split(separator) if column]
    if line[0] == separator == " ":
        columns.insert(0, " ")  # the word is a space
    if len(columns) < 2:
        between = "a tab" if separator == "\t" else "a space"
        raise ValueError(f"expected a word and a tag with {between} between them")
    if columns[0] != DOCUMENT_START:
        try:
            split_tag(columns[-1])
        except ValueError as error:
            hint = " (ten columns: is this CoNLL-U? --format conllu)" if len(columns) == 10 else ""
            raise ValueError(f"{error}{hint}") from None
    return columns[0], columns[-1]


def _make_record(sentence: TaggedSentence) -> Record:
    words, spans, place = sentence
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    entities = []
    for start, end, label in spans:
        if not label:
            raise FormatError(f"{place}: the tags have no labels. An entity needs one, as in B-PER.")
        entities.append(Entity(offsets[start], offsets[end], label))
    return Record("".join(words), tuple(words), entities, place)
