"""Reading uploaded files of words and rules."""

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Dict, Iterator, NamedTuple

from ...lexicon.errors import LexiconError
from ...lexicon.lexicon import Lexicon
from ...lexicon.readers.any_file import read_any
from ...lexicon.rule_file import read_rules
from .edits import Edit, WordFields

MAX_SKIPPED = 0.1  # share of the lines of a file


class Upload(NamedTuple):
    """The edit in a file."""

    edit: Edit
    skipped: Dict[str, int]  # lines that were left out, by reason


def read_words_file(data: bytes, name: str, lexicon: Lexicon, label: str = "") -> Upload:
    """Read a list of words, a table or a jieba dictionary.

    data (bytes): The file, UTF-8.
    name (str): Its name, for messages; a file named ".csv" is a table.
    lexicon (Lexicon): The lexicon to which the words will be added.
    label (str): The label of words that have none.
    RETURNS (Upload): The words. Raises LexiconError, with the line, for any other file, for vectors, and if more than a
        tenth of the lines are invalid.
    """
    with _as_file(data, name, ".csv" if name.endswith(".csv") else ".txt") as path:
        words = Lexicon.from_entries(
            read_any(path), normalization=lexicon.normalization, max_word_length=lexicon.max_word_length, merge=True
        )
        if words.dim:
            raise LexiconError(
                "The file has vectors, which only `spacy lexner lexicon build` reads. Upload words only."
            )
        report = words.report
        invalid = {key: count for key, count in report.skipped.items() if key not in ("duplicate", "label_added")}
        if sum(invalid.values()) > MAX_SKIPPED * report.n_read:
            raise LexiconError(f"More than a tenth of the lines are invalid. {report}")
    given = [
        WordFields(
            entry.word,
            entry.labels or ((label,) if label else None),
            None if entry.weight == 1.0 else entry.weight,
            entry.entity_id or None,
        )
        for entry in words.entries()
    ]
    return Upload(Edit(add_words=tuple(given)), dict(report.skipped))


def read_rules_file(data: bytes, name: str) -> Upload:
    """Read a dictionary file (see `read_rules`), whose rules replace all rules of its words. Raises LexiconError, with
    the line, for an invalid rule."""
    with _as_file(data, name, ".tsv") as path:
        return Upload(Edit(add_rules=tuple(read_rules(path)), replace=True), {})


@contextmanager
def _as_file(data: bytes, name: str, suffix: str) -> Iterator[Path]:
    """Write a temporary file for the readers; errors have the name that the client gave."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(data)
        try:
            yield path
        except LexiconError as error:
            raise LexiconError(str(error).replace(str(path), _shown(name))) from None


def _shown(name: str) -> str:
    return "".join(character for character in name if character.isprintable())[:80] or "the file"
