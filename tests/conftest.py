"""Shared fixtures. Real data is never part of the project: tests that read it are skipped where it is missing."""

import os

# Set before torch is loaded: small tensors gain nothing from threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path

import catalogue
import pytest
from data_folder import DATA
from hypothesis import settings
from spacy.util import fix_random_seed

# catalogue searches the entry points of all packages at every look-up, a tenth of the run. It takes them by group, too.
INSTALLED = catalogue.AVAILABLE_ENTRY_POINTS
catalogue.AVAILABLE_ENTRY_POINTS = {group: list(INSTALLED.select(group=group)) for group in INSTALLED.groups}

FIXTURES = Path(__file__).parent / "fixtures"

# Test runs are reproducible; `--hypothesis-profile explore` looks for new counterexamples.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Makes weights and dropout the same in every run, whatever ran before."""
    fix_random_seed(0)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with the public data sets (set the environment variable LEXNER_DATA for another one)."""
    if not DATA.is_dir():
        pytest.skip(f"needs the public data sets: no folder {DATA} (set LEXNER_DATA)")
    return DATA


@pytest.fixture(scope="session")
def fixtures_dir() -> Path:
    return FIXTURES
