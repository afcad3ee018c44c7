"""The scripts of the project folder are plain files: tests import them from there."""

import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2] / "project"
sys.path.insert(0, str(PROJECT / "scripts"))


@pytest.fixture(scope="session")
def project_dir() -> Path:
    return PROJECT
