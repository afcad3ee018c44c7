"""Packages of trained pipelines: the card inside, its facts in meta.json, sealed."""

import package
import pytest
import spacy
import srsly
from package import find_trained, main
from trained_project import make_project

from spacy_lexner.integrity.pipelines import verify_pipeline

pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # spaCy's `package` leaves them open


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(package, "PROJECT", make_project(tmp_path))
    (tmp_path / "training" / "study" / "weibo-flat-0" / "model-best").mkdir(parents=True)  # of a study, not of `train`
    return tmp_path


def test_every_trained_pipeline_gets_a_card(project):
    assert find_trained(project) == [("udc", "segmenter"), ("weibo", "flat")]
    main(project / "packages", version="1.2.3")
    for name, kind, licence in (("weibo_flat", "Entities", "CC BY-SA 3.0"), ("udc_segmenter", "Words", "CC BY-SA 4.0")):
        full = f"zh_lexner_{name}"
        folder = project / "packages" / f"{full}-1.2.3"
        inside = folder / full / f"{full}-1.2.3"
        meta = srsly.read_json(inside / "meta.json")
        assert meta["description"].startswith(kind) and meta["license"] == licence and meta["version"] == "1.2.3"
        assert meta["sources"][0]["license"] == licence and meta["card"]["lexicon"]["words"] == 4
        card = (folder / "README.md").read_text("utf8")
        assert card == (inside / "README.md").read_text("utf8") and card.startswith(f"# {full} 1.2.3")
        assert spacy.load(inside).meta["performance"].keys() & {"ents_f", "word_f"}
        assert srsly.read_json(folder / "meta.json")["requirements"][0].startswith("spacy-lexner>=")
        assert list(verify_pipeline(inside)) == []


def test_without_a_trained_pipeline(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(package, "PROJECT", tmp_path)
    with pytest.raises(SystemExit):
        main(tmp_path / "packages")
    assert "project run train" in capsys.readouterr().out
