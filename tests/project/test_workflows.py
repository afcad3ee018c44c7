"""The workflows from start to end, as a person types them. Minutes."""

import json
import os
import shutil
import subprocess
import sys

import pytest
import spacy

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture
def checkout(project_dir, tmp_path):
    """A copy of what the workflows read, without anything that they wrote."""
    written = ("assets", "corpus", "lexicon", "training", "metrics", "packages", "project.lock", "__pycache__")
    shutil.copytree(project_dir, tmp_path / "project", ignore=shutil.ignore_patterns(*written))
    shutil.copytree(project_dir.parent / "configs", tmp_path / "configs")
    return tmp_path


def run(checkout, *arguments):
    command = [sys.executable, "-m", "spacy", "project", "run", *arguments]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_all(checkout):
    out = run(checkout, "all", "project")
    project = checkout / "project"
    scores = json.loads((project / "metrics" / "demo.json").read_text("utf8"))
    assert scores["lexicon"]["ents_f"] > 0.8
    assert scores["lexicon"]["ents_f"] > scores["empty"]["ents_f"] + 0.05
    assert scores["lexicon"]["recall_unseen"] > scores["empty"]["recall_unseen"] + 0.1
    assert "南京市长江大桥" in out
    package = project / "packages" / "zh_lexner_demo-0.1.0"
    assert (package / "setup.py").is_file()
    assert spacy.load(package / "zh_lexner_demo" / "zh_lexner_demo-0.1.0").pipe_names == ["lex_matcher", "lex_ner"]
    again = run(checkout, "all", "project")
    assert again.count("nothing changed") == 6 and "Training pipeline" not in again


def test_train(checkout, data_dir):
    settings = ("--vars.data_dir", str(data_dir), "--vars.dataset", "weibo")
    out = run(checkout, "train", "project", *settings)
    assert "does not begin with B" in out  # the defects of the real set are reported
    scores = json.loads((checkout / "project" / "metrics" / "weibo-lebert.json").read_text("utf8"))
    assert scores["lebert"]["ents_f"] > 0.3
    assert set(scores) == {"lebert", "lebert, lexicon emptied"}
    assert run(checkout, "train", "project", *settings).count("nothing changed") == 5
