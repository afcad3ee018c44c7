"""Entities in two columns of a data set: tokens, and a tag for each of them."""

from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from spacy.tokens import Doc

from ..formats.record import Entity, FormatError, ReadOptions, Record
from ..formats.report import Report
from ..formats.tags import SCHEMES, detect_scheme, read_spans, split_tag, write_tags
from ..lexicon.limits import quote
from .entities import check_text


class Tags(NamedTuple):
    """The meaning of the values in a column of tags."""

    pairs: Dict[Any, Tuple[str, str]]  # the letter and the label of each value
    scheme: str


def check_scheme(scheme: str) -> None:
    """Raise FormatError for an unknown scheme."""
    if scheme not in SCHEMES:
        raise FormatError(f"Unknown tag scheme {scheme!r}. Use one of: {', '.join(SCHEMES)}")


def tag_names(labels: Iterable[str], scheme: str) -> List[str]:
    """RETURNS (List[str]): The tags of the labels in a scheme, O first."""
    letters = list(dict.fromkeys(SCHEMES[scheme]))
    return ["O", *(f"{letter}-{label}" for label in sorted(set(labels)) for letter in letters)]


def make_tags(doc: Doc, scheme: str) -> Optional[List[str]]:
    """RETURNS (Optional[List[str]]): The tags of a Doc's tokens; None if it is unannotated."""
    spans = [(ent.start, ent.end, ent.label_) for ent in doc.ents]
    return write_tags(spans, len(doc), scheme) if doc.has_annotation("ENT_IOB") else None


def read_tags(
    dataset: Any, text: Optional[str], tokens: str, tags: str, separator: str, options: ReadOptions, report: Report
) -> Iterator[Record]:
    """Read the rows of a data set with the columns `tokens` and `tags`.

    text (Optional[str]): The column of texts, which consist of the tokens and white space. If None, a text is its
        tokens joined by `separator`.
    """
    meaning = _read_meaning(dataset, tags, options)
    dataset = dataset.select_columns([tokens, tags] if text is None else [text, tokens, tags])
    for i, row in enumerate(dataset):
        place = f"row {i}"
        words = _check_tokens(row[tokens], place, tokens)
        content = separator.join(words) if text is None else check_text(row[text], place, text)
        borders = _find_borders(content, words, place)
        entities = None if row[tags] is None else _read_row(words, row[tags], borders, meaning, place, options, report)
        yield Record(content, None, entities, place)


def _read_meaning(dataset: Any, tags: str, options: ReadOptions) -> Tags:
    names = getattr(getattr(dataset.features[tags], "feature", None), "names", None)
    used = names or sorted({tag for row in dataset[tags] for tag in row or () if tag is not None}, key=str)
    try:
        split = [split_tag(tag) for tag in used]
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"The column {tags!r}: {error}. Numbers need a ClassLabel: dataset.cast_column(...)."
        ) from None
    if nameless := [tag for tag, (letter, label) in zip(used, split) if letter != "O" and not label]:
        raise FormatError(f"The column {tags!r} has the tag {nameless[0]!r} without a label; expected O, B-PER, ...")
    scheme = detect_scheme(letter for letter, _ in split)
    if scheme is None and not options.repair:
        raise FormatError(
            f"The tags {', '.join(used)} fit no scheme of {', '.join(SCHEMES)}. Read them with repair=True."
        )
    return Tags(dict(zip(range(len(used)) if names else used, split)), scheme or "bioes")


def _check_tokens(words: Any, place: str, column: str) -> List[str]:
    if not isinstance(words, list):
        raise FormatError(
            f"{place}: the tokens are {quote(words)}, not a list of strings. "
            f"Drop such rows first: dataset.filter(lambda row: row[{column!r}] is not None)."
        )
    for i, word in enumerate(words):
        if not isinstance(word, str):
            raise FormatError(f"{place}: token {i} is {quote(word)}, not a string. Correct the row, or drop it first.")
    return words


def _find_borders(text: str, words: Sequence[str], place: str) -> List[Tuple[int, int]]:
    """RETURNS (List[Tuple[int, int]]): The start and end of each token in the text."""
    borders = []
    end = 0
    for i, word in enumerate(words):
        start = text.find(word, end)
        if start < 0 or text[end:start].strip():
            raise FormatError(
                f"{place}: token {i}, {word!r}, does not follow in the text, but {text[end : end + 20]!r}."
            )
        end = start + len(word)
        borders.append((start, end))
    return borders


def _read_row(
    words: Sequence[str],
    tags: Sequence[Any],
    borders: List[Tuple[int, int]],
    meaning: Tags,
    place: str,
    options: ReadOptions,
    report: Report,
) -> List[Entity]:
    if len(tags) != len(words):
        raise FormatError(f"{place}: {len(words)} tokens have {len(tags)} tags.")
    if unknown := [tag for tag in tags if tag not in meaning.pairs]:
        raise FormatError(f"{place}: the tag {unknown[0]!r} is not among the {len(meaning.pairs)} of the column.")
    pairs = [meaning.pairs[tag] for tag in tags]
    spans, violations = read_spans(pairs, marks_end=SCHEMES[meaning.scheme].marks_end)
    for token, kind in violations:
        where = f"{place}: token {token}, {words[token]!r}"
        if not options.repair:
            wrong = kind.split(":")[0]
            raise FormatError(f"{where}: in {meaning.scheme.upper()}, {wrong}. Repair it with repair=True.")
        report.add_problem(kind, where)
    return [Entity(borders[start][0], borders[end - 1][1], label) for start, end, label in spans]
