"""Pipelines on disk: one of rules, and one that also fails, hangs or dies, as a text tells it to."""

import importlib
import shutil
import sys
from pathlib import Path

import pytest
import spacy

CODE = """
import os
import time

from spacy.language import Language

ONCE = os.path.join(os.path.dirname(__file__), "once")


@Language.component("troublesome")
def troublesome(doc):
    if "坏" in doc.text:
        raise ValueError("a bad text")
    if "慢" in doc.text:
        time.sleep(600)
    if "死" in doc.text:
        os._exit(7)
    if "偶" in doc.text and not os.path.exists(ONCE):
        open(ONCE, "w").close()
        os._exit(8)
    return doc
"""

PACKAGE = """
from spacy.util import load_model_from_init_py

from . import component


def load(**overrides):
    return load_model_from_init_py(__file__, **overrides)
"""


def make_rules() -> spacy.Language:
    nlp = spacy.blank("zh")
    nlp.add_pipe("entity_ruler").add_patterns(
        [{"label": "GPE", "pattern": "南京"}, {"label": "LOC", "pattern": "长江"}]
    )
    return nlp


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("rules")
    make_rules().to_disk(folder)
    return str(folder)


@pytest.fixture
def troublesome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a package, as `spacy package --code` makes them."""
    site = tmp_path / "site"
    package, about = site / "troublesome", site / "troublesome-1.0.dist-info"
    package.mkdir(parents=True)
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: troublesome\nVersion: 1.0\n", "utf8")
    (package / "component.py").write_text(CODE, "utf8")
    (package / "__init__.py").write_text(PACKAGE, "utf8")
    monkeypatch.syspath_prepend(site)
    sys.modules.pop("troublesome", None)
    sys.modules.pop("troublesome.component", None)
    importlib.import_module("troublesome")
    nlp = make_rules()
    nlp.meta.update(name="troublesome", version="1.0")
    nlp.add_pipe("troublesome")
    nlp.to_disk(package / "zh_troublesome-1.0")
    shutil.copy(package / "zh_troublesome-1.0" / "meta.json", package)
    return "troublesome"
