"""Tests of rules in a plain text file: sentences with the entities that must or must not be found in them."""

from pathlib import Path
from typing import Callable, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

from spacy.tokens import Doc

from ..formats.record import FormatError
from ..lexicon.lines import read_lines
from ..pipeline.exact_offsets import get_offsets

IS, IS_NOT, NOTHING_ELSE = "+", "-", "="
COMMENT = "# "
FORM = "Expected a text, and below it lines such as '+ word LABEL', '- word', '- word LABEL' or '='."
Found = Set[Tuple[int, int, str]]


class Expectation(NamedTuple):
    """A requirement for a text. "+": the word is an entity with the label somewhere; "-": it is nowhere an entity (with
    that label, or any); "=": there are no entities other than the expected ones."""

    kind: str
    word: str = ""
    label: str = ""


class RuleTest(NamedTuple):
    """A text with its expectations."""

    place: str  # file and line
    text: str
    expectations: Tuple[Expectation, ...]


class Failure(NamedTuple):
    """An expectation that was not met."""

    place: str
    text: str
    message: str


def read_tests(path: Union[str, Path]) -> List[RuleTest]:
    """Read a file of tests: each text on a line, with its expectations below; comments begin with "# ". Columns are
    separated by tabs or, in lines without tabs, by spaces. Raises FormatError, with file and line, for anything
    else."""
    tests: List[RuleTest] = []
    for number, line in read_lines(Path(path)):
        text = line.strip()
        if not text or text.startswith(COMMENT):
            continue
        place = f"{path}:{number}"
        if text[0] not in (IS, IS_NOT, NOTHING_ELSE):
            tests.append(RuleTest(place, text, ()))
            continue
        if not tests:
            raise FormatError(f"{place}: an expectation without a text. {FORM}")
        test = tests[-1]
        expectations = (*test.expectations, _parse(line.lstrip(), place, test.text))
        tests[-1] = test._replace(expectations=expectations)
    for test in tests:
        if not test.expectations:
            raise FormatError(f"{test.place}: {test.text[:40]!r} has no expectations. {FORM}")
    if not tests:
        raise FormatError(f"{path}: no tests. {FORM}")
    return tests


def _parse(line: str, place: str, text: str) -> Expectation:
    kind, rest = line[0], line[1:]  # not stripped: a tab at either end says that spaces belong to the word
    columns = [cell.strip() for cell in (rest.split("\t") if "\t" in rest else rest.split()) if cell.strip()]
    wanted = {IS: (2, 2), IS_NOT: (1, 2), NOTHING_ELSE: (0, 0)}[kind]
    if not wanted[0] <= len(columns) <= wanted[1]:
        raise FormatError(f"{place}: {line.rstrip()!r}. {FORM} A word with spaces in it needs tabs.")
    if columns and columns[0] not in text:
        raise FormatError(f"{place}: {columns[0]!r} does not occur in {text[:40]!r}.")
    return Expectation(kind, *columns)


def run_tests(tests: Sequence[RuleTest], annotate: Callable[[Iterable[str]], Iterable[Doc]]) -> Iterator[List[Failure]]:
    """Run tests.

    tests (Sequence[RuleTest]): The tests.
    annotate (Callable[[Iterable[str]], Iterable[Doc]]): Finds the entities of texts: `nlp.pipe`, or `follow_rules`.
    YIELDS (List[Failure]): For each test, in order, the expectations that were not met.
    """
    for test, doc in zip(tests, annotate([test.text for test in tests])):
        found = {(*get_offsets(ent), ent.label_) for ent in doc.ents}
        messages = (_check(each, test, found) for each in test.expectations)
        yield [Failure(test.place, test.text, message) for message in messages if message is not None]


def _check(expected: Expectation, test: RuleTest, found: Found) -> Optional[str]:
    """RETURNS (Optional[str]): The message of a failure; None if the expectation is met."""
    word, label = expected.word, expected.label
    if expected.kind == NOTHING_ELSE:
        named = {(each.word, each.label) for each in test.expectations if each.kind == IS}
        others = [entity for entity in sorted(found) if (test.text[entity[0] : entity[1]], entity[2]) not in named]
        return f"unexpected: {_describe(others, test.text)}" if others else None
    own = [entity for entity in sorted(found) if test.text[entity[0] : entity[1]] == word]
    if expected.kind == IS:
        if any(entity[2] == label for entity in own):
            return None
        return f"{word} is not {label}, but: {_describe(own or sorted(found), test.text)}"
    wrong = [entity for entity in own if label in ("", entity[2])]
    return f"{word} is {wrong[0][2]}" if wrong else None


def _describe(entities: Iterable[Tuple[int, int, str]], text: str) -> str:
    return ", ".join(f"{text[start:end]} {label}" for start, end, label in entities) or "nothing is found"
