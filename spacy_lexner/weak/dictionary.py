"""Reading words with labels from a dictionary file with rules, a table, or a labelled lexicon."""

import warnings
from itertools import islice
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Set, Tuple, Union

from ..lexicon.build import BuildReport
from ..lexicon.entry import EntryStream, Labels, LexiconEntry, find_word_fault, join_labels
from ..lexicon.errors import LexiconError
from ..lexicon.lexicon import Lexicon
from ..lexicon.lines import read_lines
from ..lexicon.normalization import Normalization
from ..lexicon.readers.word_table import has_more_columns, is_csv, read_word_table
from ..lexicon.rule_file import AS_WRITTEN, COMMENT, MAX_WORD_LENGTH, collect_rules, read_rules
from ..lexicon.rules import FORBID, FORCE, MODES, PREFER

N_SAMPLE = 20  # lines from which the kind of a file is detected
MAX_INVALID = 0.1  # share of the words that may be invalid, as in `lexicon build`
NO_LABEL = "no label"
REMEDY = (
    "Give a table of words and labels (word, tab, label), a dictionary file (word, force, label), or a labelled "
    "lexicon: `lexner lexicon build my_lexicon BRAND=brands.txt FOOD=foods.txt`."
)


class _Fields(NamedTuple):
    labels: Dict[str, Labels]
    forbidden: Set[str]
    normalization: Normalization


class Dictionary(_Fields):
    """The words of a dictionary, trimmed and normalised: `labels`, the possible labels of each word; `forbidden`, words
    that are not entities; and the `normalization` that texts need before they are compared with these words."""

    __slots__ = ()

    def __new__(
        cls,
        labels: Mapping[str, Iterable[str]],
        forbidden: Iterable[str] = (),
        normalization: Normalization = AS_WRITTEN,
    ) -> "Dictionary":
        """Create a dictionary.

        labels (Mapping[str, Iterable[str]]): The possible labels of each word; words without labels, and forbidden
            ones, are left out.
        forbidden (Iterable[str]): Words that are not entities.
        normalization (Normalization): Of case, width and script, applied to the words, and to texts when matching.
        """
        excluded = set(map(normalization.word, forbidden))
        kept: Dict[str, Labels] = {}
        for written, own in labels.items():
            word = normalization.word(written)
            if word not in excluded and (joined := join_labels(kept.get(word, ()), own)):
                kept[word] = joined
        return super().__new__(cls, kept, excluded, normalization)

    @property
    def label_names(self) -> Tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): All labels, sorted."""
        return tuple(sorted({label for labels in self.labels.values() for label in labels}))

    def content(self) -> List[Any]:
        """RETURNS (List[Any]): All that the dictionary says, whatever the order of its words."""
        return [sorted(self.labels.items()), sorted(self.forbidden), self.normalization.settings()]


def read_dictionary(path: Union[str, Path]) -> Dictionary:
    """Read the words that have labels. `force`, and `prefer` with a weight above 0, label a word; `forbid` without a
    label says that it is not an entity; with one, that a word of a lexicon does not have this label. Words without
    labels are left out. A lexicon's normalisation is kept.

    path (Union[str, Path]): A dictionary file, a table, or the folder of a lexicon. The columns of a table are word and
        label, or those that the first row calls so; rows that start with "# " are skipped.
    RETURNS (Dictionary): The words. A UserWarning lists the rows of a table without a label, and invalid words. Raises
        LexiconError if no word has a label, or if more than a tenth of all words are invalid.
    """
    path = Path(path)
    if not path.exists():
        raise LexiconError(f"{path}: no such dictionary. {REMEDY}")
    report = BuildReport(str(path))
    labels: Dict[str, Labels] = {}
    forbidden: Set[str] = set()
    stream, normalization = _open(path, report)
    for entry in stream:
        report.n_read += 1
        own, is_forbidden = _meaning(entry)
        word = normalization.word(entry.word)
        if is_forbidden:
            forbidden.add(word)
        elif own and (fault := find_word_fault(word, MAX_WORD_LENGTH)):
            report.skip(fault, f"{path}:{stream.line}")
        elif own:
            labels[word] = join_labels(labels.get(word, ()), own)
    dictionary = Dictionary(labels, forbidden, normalization)
    _check(report, dictionary)
    return dictionary


def _open(path: Path, report: BuildReport) -> Tuple[EntryStream, Normalization]:
    if path.is_dir():
        lexicon = Lexicon.open(path)
        return EntryStream(str(path), enumerate(lexicon.entries(), 1)), lexicon.normalization
    if _has_modes(path):
        rules = collect_rules(read_rules(path))
        entries = (LexiconEntry(word, rules=several) for word, several in rules.items())
        return EntryStream(str(path), enumerate(entries, 1)), AS_WRITTEN
    return EntryStream(str(path), _read_table(path, report)), AS_WRITTEN


def _written_lines(path: Path) -> Iterator[str]:
    return (line for _, line in read_lines(path) if line.strip() and not line.lstrip().startswith(COMMENT))


def _has_modes(path: Path) -> bool:
    rows = (line.split("\t") for line in islice(_written_lines(path), N_SAMPLE))
    return any(len(row) > 1 and row[1].strip() in MODES for row in rows)


def _read_table(path: Path, report: BuildReport) -> Iterator[Tuple[int, LexiconEntry]]:
    """Read a table whose columns are word and label, unless its first row names them."""
    first = next(_written_lines(path), "").lower().split("," if is_csv(path) else "\t")
    names = [name.strip(' "') for name in first]
    is_named = {"word", "label"} <= set(names)
    word, label = (names.index("word"), names.index("label")) if is_named else (0, 1)
    given = label if has_more_columns(path) else None
    stream = read_word_table(path, word=word, label=given, entity_id=0)  # the first cell tells whether it is a comment
    rows = (entry for entry in stream if not entry.entity_id.startswith(COMMENT))
    for entry in islice(rows, int(is_named), None):
        if not entry.labels:
            report.skip(NO_LABEL, f"{path}:{stream.line}")
        yield stream.line, entry


def _meaning(entry: LexiconEntry) -> Tuple[Labels, bool]:
    """The labels of a word, by its rules if these have any, or else its own that no rule forbids, and whether its rules
    say that it is not an entity."""
    given = [rule.label for rule in entry.rules if rule.mode == FORCE or (rule.mode == PREFER and rule.weight > 0)]
    is_forbidden = any(rule.mode == FORBID and not rule.label for rule in entry.rules)
    excluded = {rule.label for rule in entry.rules if rule.mode == FORBID}
    return join_labels((), given) or tuple(label for label in entry.labels if label not in excluded), is_forbidden


def _check(report: BuildReport, dictionary: Dictionary) -> None:
    """Raise LexiconError for a dictionary without labels or with many invalid words; warn of what was left out."""
    if not dictionary.labels:
        raise LexiconError(f"{report.source}: no word has a label. {REMEDY}")
    summary = str(report).replace("\n  ", "; ")
    if report.n_skipped - report.skipped.get(NO_LABEL, 0) > MAX_INVALID * report.n_read:
        raise LexiconError(f"{summary}. Too many words are invalid: correct them, or check the columns. {REMEDY}")
    if report.n_skipped:
        warnings.warn(f"{summary}.", UserWarning, stacklevel=3)
