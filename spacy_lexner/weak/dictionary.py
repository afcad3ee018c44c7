"""Reading words with labels from a dictionary file with rules, a table, or a labelled lexicon."""

from itertools import islice
from pathlib import Path
from typing import Dict, Iterable, Iterator, NamedTuple, Set, Tuple, Union

from ..lexicon.entry import Labels, LexiconEntry, join_labels
from ..lexicon.errors import LexiconError
from ..lexicon.lexicon import Lexicon
from ..lexicon.lines import read_lines
from ..lexicon.readers.any_file import read_any
from ..lexicon.rule_file import COMMENT, collect_rules, read_rules
from ..lexicon.rules import FORBID, FORCE, MODES, PREFER, Rules

N_SAMPLE = 20  # lines from which the kind of a file is detected
REMEDY = (
    "Give a table of words and labels (word, tab, label), a dictionary file (word, force, label), or a labelled "
    "lexicon: `lexner lexicon build my_lexicon BRAND=brands.txt FOOD=foods.txt`."
)


class Dictionary(NamedTuple):
    """The words of a dictionary."""

    labels: Dict[str, Labels]  # the possible labels of each word
    forbidden: Set[str]  # words that are not entities

    @property
    def label_names(self) -> Tuple[str, ...]:
        """RETURNS (Tuple[str, ...]): All labels, sorted."""
        return tuple(sorted({label for labels in self.labels.values() for label in labels}))


def read_dictionary(path: Union[str, Path]) -> Dictionary:
    """Read the words that have labels. `force`, and `prefer` with a weight above 0, label a word; `forbid` without a
    label says that it is not an entity. Words without labels are left out.

    path (Union[str, Path]): A dictionary file, a table, or the folder of a lexicon. The columns of a table are word and
        label, or those that the first row calls so.
    RETURNS (Dictionary): The words. Raises LexiconError if none has a label.
    """
    path = Path(path)
    if not path.exists():
        raise LexiconError(f"{path}: no such dictionary. {REMEDY}")
    entries = _read_rules(path) if path.is_file() and _has_modes(path) else _read_entries(path)
    labels: Dict[str, Labels] = {}
    forbidden: Set[str] = set()
    for word, own, is_forbidden in entries:
        if is_forbidden:
            forbidden.add(word)
        elif own:
            labels[word] = join_labels(labels.get(word, ()), own)
    labels = {word: own for word, own in labels.items() if word not in forbidden}
    if not labels:
        raise LexiconError(f"{path}: no word has a label. {REMEDY}")
    return Dictionary(labels, forbidden)


def _has_modes(path: Path) -> bool:
    lines = (line for _, line in read_lines(path) if line.strip() and not line.startswith(COMMENT))
    rows = [line.split("\t") for line in islice(lines, N_SAMPLE)]
    return any(len(row) > 1 and row[1].strip() in MODES for row in rows)


def _read_rules(path: Path) -> Iterator[Tuple[str, Labels, bool]]:
    for word, rules in collect_rules(read_rules(path)).items():
        yield word, *_meaning(rules)


def _read_entries(path: Path) -> Iterator[Tuple[str, Labels, bool]]:
    entries: Iterable[LexiconEntry] = Lexicon.open(path).entries() if path.is_dir() else _read_table(path)
    for entry in entries:
        ruled, is_forbidden = _meaning(entry.rules)
        yield entry.word, ruled or entry.labels, is_forbidden


def _read_table(path: Path) -> Iterable[LexiconEntry]:
    """Read a table whose columns are word and label, unless its first row names them; nothing if it is no table."""
    lines = [line for _, line in islice(read_lines(path), N_SAMPLE) if line.strip()]
    is_csv = ".csv" in path.suffixes
    if not (is_csv or all("\t" in line for line in lines)):
        return ()
    first = (lines or [""])[0].lower().split("," if is_csv else "\t")
    names = [name.strip(' "') for name in first]
    if not {"word", "label"} <= set(names):
        return read_any(path, "table", label=1)
    return islice(read_any(path, "table", word=names.index("word"), label=names.index("label")), 1, None)


def _meaning(rules: Rules) -> Tuple[Labels, bool]:
    """The labels that rules give a word, and whether they say that it is not an entity."""
    given = [rule.label for rule in rules if rule.mode == FORCE or (rule.mode == PREFER and rule.weight > 0)]
    return join_labels((), given), any(rule.mode == FORBID and not rule.label for rule in rules)
