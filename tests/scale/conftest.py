"""Pipelines on disk: one of rules, and one that also fails, hangs or dies, as a text tells it to."""

import importlib
import sys
from pathlib import Path

import pytest
import spacy

CODE = """
import os
import time

from spacy.language import Language


@Language.component("troublesome")
def troublesome(doc):
    if "坏" in doc.text:
        raise ValueError("a bad text")
    if "慢" in doc.text:
        time.sleep(600)
    if "死" in doc.text:
        os._exit(7)
    if "偶" in doc.text and not os.path.exists(os.environ["ONCE"]):
        open(os.environ["ONCE"], "w").close()
        os._exit(8)
    return doc
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
    """Installed as users install components, so that worker processes find it."""
    site = tmp_path / "site"
    about = site / "troublesome-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "troublesome.py").write_text(CODE, "utf8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: troublesome\nVersion: 1.0\n", "utf8")
    (about / "entry_points.txt").write_text("[spacy_factories]\ntroublesome = troublesome:troublesome\n", "utf8")
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("ONCE", str(tmp_path / "once"))
    sys.modules.pop("troublesome", None)
    importlib.import_module("troublesome")
    nlp = make_rules()
    nlp.add_pipe("troublesome")
    nlp.to_disk(tmp_path / "troublesome")
    return str(tmp_path / "troublesome")
