import sys

import pytest

from spacy_lexner.about import __version__
from spacy_lexner.scale import annotate
from spacy_lexner.scale.nodes import Needed


def test_ray_is_not_installed(tmp_path, model, monkeypatch):
    (tmp_path / "in.txt").write_text("我在南京\n", "utf8")
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(ImportError, match=r'needs Ray .*pip install "spacy-lexner\[ray\]"'):
        annotate(model, [tmp_path / "in.txt"], tmp_path / "out", engine="ray")


def test_what_a_node_lacks(model):
    needed = Needed.here(model)
    assert needed.missing() == ""
    old = {**needed.versions, "spacy_lexner": "0.0.1"}
    assert needed._replace(versions=old).missing() == f"spacy_lexner {__version__} is installed; expected 0.0.1"
    assert needed._replace(model_hash="other").missing() == f"the files of the pipeline {model} differ"
    assert "there is no pipeline nowhere" in needed._replace(model="nowhere").missing()
