"""Dictionary files: words and their rules."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, NamedTuple, Union

from .entry import REASONS, find_word_fault
from .errors import LexiconError
from .limits import quote
from .lines import read_lines
from .normalization import Normalization
from .rules import FORBID, HINT, MODES, Rule, Rules, WordRule, find_rule_fault, normal_rules

COMMENT = ("# ", "#\u3000")  # so no word can begin with these
MAX_WORD_LENGTH = 64
NO_TABS = re.compile(r"[\s,，;；\"]+")  # what stands between cells if not tabs
NUMBER = re.compile(r"[+-]?\d*\.?\d+")
AS_WRITTEN = Normalization()
ANY_WIDTH = Normalization(width=True)  # U+3000 may be a space: that is up to the lexicon that gets the words


class RuleFile(NamedTuple):
    path: str
    encoding: str = "utf8"


def read_rules(path: Union[str, Path], *, encoding: str = "utf8") -> Iterator[WordRule]:
    """Read a dictionary file, plain or compressed (.gz, .bz2, .xz). Each line holds a word and, separated by tabs, its
    mode ("hint" by default), a label, and the weight of "prefer". A word with several rules has several lines. Empty
    lines and lines that start with "# " are skipped. Raises LexiconError, with file and line, for an invalid rule, and
    for a rule separated by anything else, such as spaces or commas."""
    path = Path(path)
    if path.is_file() and not path.stat().st_size:
        return
    for number, line in read_lines(path, encoding=encoding):
        if line.strip() and not line.lstrip().startswith(COMMENT):
            try:
                yield _parse(line)
            except ValueError as error:
                raise LexiconError(
                    f"{path}:{number}: {error}. Expected word, mode, label and weight, separated by tabs."
                ) from None


def _parse(line: str) -> WordRule:
    """The rule on a line. Raises ValueError if it is invalid."""
    word, tab, columns = line.partition("\t")
    word = word.strip()
    if not tab and _is_rule_without_tabs(word):
        raise ValueError(f"{quote(word)} is a rule without tabs (if it is a word, end the line with a tab)")
    if fault := find_line_fault(word):
        raise ValueError(fault)
    return WordRule(word, *_parse_rule(columns))


def find_line_fault(word: str) -> str:
    """Describe why a word cannot stand on a line of a dictionary file; empty if it can. What counts is the word as a
    lexicon stores it, since saved pipelines hold such files."""
    stored = ANY_WIDTH.word(word)
    fault = find_word_fault(stored, MAX_WORD_LENGTH)
    if fault == "too_long":
        return f"word longer than {MAX_WORD_LENGTH} characters: {quote(word)}"
    if fault:
        return f"{REASONS[fault]}: {quote(word)}"
    return f"{quote(word)} begins like a comment" if stored.startswith(COMMENT) else ""


def _is_rule_without_tabs(line: str) -> bool:
    """Whether a line without tabs is a rule. English phrases have these words too: "air force"."""
    cells = [cell for cell in NO_TABS.split(line) if cell]
    return any(
        cell in MODES and (not "".join(cells[:i]).isascii() or _are_after_mode(cell, cells[i + 1 :]))
        for i, cell in enumerate(cells[1:], 1)
    )


def _are_after_mode(mode: str, cells: List[str]) -> bool:
    """Whether cells can be what a rule has after its mode: a label, a weight, or both. Only "forbid" makes sense
    without."""
    if len(cells) < 2:
        return mode == FORBID or len(cells) == 1
    return len(cells) == 2 and NUMBER.fullmatch(cells[1]) is not None


@lru_cache(maxsize=4096)
def _parse_rule(columns: str) -> Rule:
    """The rule in the columns after the word."""
    cells = [cell.strip() for cell in columns.split("\t")]
    if len(cells) > 3:
        raise ValueError(f"{len(cells) + 1} columns, expected at most 4")
    mode, label, weight = cells + [""] * (3 - len(cells))
    try:
        rule = Rule(mode or HINT, label, float(weight or 0))
    except ValueError:
        raise ValueError(f"the weight is {quote(weight)}; expected a number") from None
    if fault := find_rule_fault(rule):
        raise ValueError(fault)
    return rule


def read_rule_files(files: Iterable[RuleFile], normalization: Normalization = AS_WRITTEN) -> Dict[str, Rules]:
    """Read the words of dictionary files, normalised, each with all its rules. Raises LexiconError for an invalid
    rule."""
    rows = (row for file in files for row in read_rules(file.path, encoding=file.encoding))
    return collect_rules(rows, normalization)


def collect_rules(rows: Iterable[WordRule], normalization: Normalization = AS_WRITTEN) -> Dict[str, Rules]:
    """Group rules by word, normalised. Raises LexiconError for an invalid rule."""
    rules: Dict[str, Rules] = {}
    for written, mode, label, weight in rows:
        word = normalization.word(written)
        rules[word] = (*rules.get(word, ()), Rule(mode, label, weight))
    return {word: normal_rules(several) for word, several in rules.items()}


def write_rules(rules: Dict[str, Rules]) -> str:
    """Format rules as the text of a dictionary file."""
    rows = (WordRule(word, *rule) for word, several in rules.items() for rule in several or (Rule(HINT),))
    return "".join(f"{row.word}\t{row.mode}\t{row.label}\t{repr(row.weight) if row.weight else ''}\n" for row in rows)
