"""The scripts in project/scripts are plain files, and tests import them from there."""

import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2] / "project"
sys.path.insert(0, str(PROJECT / "scripts"))


@pytest.fixture(scope="session")
def project_dir() -> Path:
    return PROJECT


@pytest.fixture(autouse=True)
def messages_are_not_broken_into_lines(monkeypatch):
    """Disables wrapping, which would depend on the length of the temporary folder's name."""
    monkeypatch.setattr("wasabi.printer.wrap", lambda text, **_: str(text))
