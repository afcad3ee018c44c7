"""Dictionary files: words and their rules."""

from pathlib import Path
from typing import Dict, Iterable, Iterator, List, NamedTuple, Union

from ..checks import find_fault
from ..entry import LexiconEntry
from ..errors import LexiconError
from ..report import REASONS
from ..rules import HINT, Rule, Rules, WordRule, find_rule_fault, normal_rules
from .lines import read_lines

COMMENT = "# "  # no word holds white space
MAX_WORD_LENGTH = 64


class RuleFile(NamedTuple):
    """A dictionary file: where it is, and its encoding."""

    path: str
    encoding: str = "utf8"


def read_rules(path: Union[str, Path], *, encoding: str = "utf8") -> Iterator[WordRule]:
    """Read a dictionary file. Each line holds a word and, separated by tabs, its mode ("hint" if it is left out), a
    label, and the weight of "prefer". A word with several rules has several lines. Empty lines, and lines that begin
    with "# ", are skipped.

    path (Union[str, Path]): The file, plain or compressed (.gz, .bz2, .xz).
    encoding (str): Its encoding.
    YIELDS (WordRule): The rules. Raises LexiconError, with file and line, for what makes no sense.
    """
    path = Path(path)
    if path.is_file() and not path.stat().st_size:
        return
    for number, line in read_lines(path, encoding=encoding):
        if line.strip() and not line.startswith(COMMENT):
            try:
                yield _parse(line)
            except ValueError as error:
                raise LexiconError(
                    f"{path}:{number}: {error}. A line is: word, mode, label, weight, with tabs between them."
                ) from None


def _parse(line: str) -> WordRule:
    """RETURNS (WordRule): The rule on a line. Raises ValueError for what makes no sense."""
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) > 4:
        raise ValueError(f"{len(cells)} columns, expected at most 4")
    word, mode, label, weight = cells + [""] * (4 - len(cells))
    fault = find_fault(LexiconEntry(word), 0, MAX_WORD_LENGTH)
    if fault:
        raise ValueError(f"{REASONS[fault]}: {word[:80]!r}")
    row = WordRule(word, mode or HINT, label, _to_number(weight))
    if fault := find_rule_fault(row.rule):
        raise ValueError(fault)
    return row


def _to_number(text: str) -> float:
    try:
        return float(text or 0)
    except ValueError:
        raise ValueError(f"the weight is {text!r}; expected a number") from None


def read_rule_files(files: Iterable[RuleFile]) -> Dict[str, Rules]:
    """Read dictionary files.

    files (Iterable[RuleFile]): The files.
    RETURNS (Dict[str, Tuple[Rule, ...]]): Each word with all of its rules.
    """
    return collect_rules(row for file in files for row in read_rules(file.path, encoding=file.encoding))


def collect_rules(rows: Iterable[WordRule]) -> Dict[str, Rules]:
    """RETURNS (Dict[str, Tuple[Rule, ...]]): Each word with all of its rules. Raises LexiconError for one that makes no
    sense."""
    rules: Dict[str, List[Rule]] = {}
    for row in rows:
        rules.setdefault(row.word, []).append(row.rule)
    return {word: normal_rules(several) for word, several in rules.items()}


def write_rules(rules: Dict[str, Rules]) -> str:
    """RETURNS (str): The text of a dictionary file that holds these rules."""
    rows = (WordRule(word, *rule) for word, several in rules.items() for rule in several or (Rule(HINT),))
    return "".join(f"{row.word}\t{row.mode}\t{row.label}\t{repr(row.weight) if row.weight else ''}\n" for row in rows)
