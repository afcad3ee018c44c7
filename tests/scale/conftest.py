"""Pipelines on disk."""

from pathlib import Path

import pytest
from troublesome_package import make_rules, make_troublesome


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("rules")
    make_rules().to_disk(folder)
    return str(folder)


@pytest.fixture
def troublesome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a package like those made by `spacy package --code`."""
    return make_troublesome(tmp_path, monkeypatch)
