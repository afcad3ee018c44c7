"""A rule-based pipeline, and a package with one that also fails, hangs or dies when a text tells it to."""

import importlib
import shutil
import sys
from pathlib import Path

import pytest
import spacy

CODE = """
import multiprocessing
import os
import signal
import time

from spacy.language import Language

SITE = os.path.dirname(os.path.dirname(__file__))


def is_first(name):
    try:
        open(os.path.join(SITE, name), "x").close()
    except FileExistsError:
        return False
    return True


def wait_for_two():
    is_first(f"at-work-{os.getpid()}")
    for _ in range(600):
        if sum(name.startswith("at-work") for name in os.listdir(SITE)) >= 2:
            return
        time.sleep(0.1)


@Language.component("troublesome")
def troublesome(doc):
    if "坏" in doc.text:
        raise ValueError("a bad text")
    if "慢" in doc.text:
        time.sleep(600)
    if "死" in doc.text:
        os._exit(7)
    if "偶" in doc.text and is_first("once"):
        os._exit(8)
    actor = "RAY_RAYLET_PID" in os.environ
    if "齐" in doc.text:
        time.sleep(0.1)
        if actor:
            wait_for_two()
    if actor and ("杀" in doc.text or ("误" in doc.text and is_first("actor"))):
        os.kill(multiprocessing.parent_process().pid, signal.SIGKILL)
        time.sleep(600)
    return doc
"""

PACKAGE = """
from spacy.util import load_model_from_init_py

from . import component


def load(**overrides):
    return load_model_from_init_py(__file__, **overrides)
"""


def make_rules() -> spacy.Language:
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}}})
    nlp.add_pipe("entity_ruler").add_patterns(
        [{"label": "GPE", "pattern": "南京"}, {"label": "LOC", "pattern": "长江"}]
    )
    nlp.add_pipe("lex_matcher").add_words(["南京市", "长江大桥"])
    return nlp


def make_troublesome(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    site = folder / "site"
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
