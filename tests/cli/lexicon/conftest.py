"""Shared by the tests of the lexicon commands: a way to run them, and a lexicon to run them on."""

import re
from pathlib import Path
from typing import Any, Callable, Tuple

import numpy as np
import pytest
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.lexicon.rules import Rule


@pytest.fixture
def run() -> Callable[..., Tuple[int, str]]:
    """Run a command. RETURNS: Its exit code and its output on one line, which may not contain a traceback."""

    def run_command(*arguments: Any) -> Tuple[int, str]:
        result = CliRunner().invoke(lexner, ["lexicon", *map(str, arguments)])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, " ".join(re.sub("\x1b.*?m", "", result.output).split())

    return run_command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A saved lexicon: 南京 and 大桥 with vectors, 南京市 without."""
    entries = [
        LexiconEntry("南京", np.array([3, 4], "f4"), 2.0, "GPE", "Q16666"),
        LexiconEntry("大桥", np.array([1, 0], "f4")),
        LexiconEntry("南京市"),
    ]
    Lexicon.from_entries(entries).save(tmp_path / "lexicon")
    return tmp_path / "lexicon"


@pytest.fixture
def ruled(folder: Path, tmp_path: Path) -> Path:
    """The same lexicon, with two rules for 南京."""
    rules = (Rule("force", "LOC"), Rule("prefer", "GPE", 2.0))
    Lexicon.open(folder).with_words([LexiconEntry("南京", weight=2.0, rules=rules)]).save(tmp_path / "ruled")
    return tmp_path / "ruled"
