"""Packages of trained pipelines: the card inside, its facts in meta.json, sealed."""

import shutil

import package
import pytest
import spacy
import srsly
from convert_dataset import DATASETS
from package import DATA, find_trained, main, make_all, module_name
from pipeline_facts import Training
from trained_project import CORPORA, make_project

from spacy_lexner.integrity.pipelines import verify_pipeline

DEMO = ("lexicon", "empty")  # what the demo calls its pipelines
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # spaCy's `package` leaves them open


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(package, "PROJECT", make_project(tmp_path, CORPORA))
    (tmp_path / "training" / "study" / "weibo-flat-0" / "model-best").mkdir(parents=True)  # of a study, not of `train`
    return tmp_path


def test_every_trained_pipeline_gets_a_card(project):
    assert find_trained(project) == [("nested", "spans_flat"), ("udc", "segmenter"), ("weibo", "flat")]
    main(project / "packages", version="1.2.3")
    for name, kind, licence in (
        ("weibo_flat", "Named entities in Chinese, in posts", "CC BY-SA 3.0"),
        ("udc_segmenter", "Words", "CC BY-SA 4.0"),
        ("nested_spans_flat", "Nested", "MIT"),
    ):
        full = f"zh_lexner_{name}"
        folder = project / "packages" / f"{full}-1.2.3"
        inside = folder / full / f"{full}-1.2.3"
        meta = srsly.read_json(inside / "meta.json")
        assert meta["description"].startswith(kind) and meta["license"] == licence and meta["version"] == "1.2.3"
        assert meta["sources"][0]["license"] == licence and meta["card"]["lexicon"]["words"] == 4
        card = (folder / "README.md").read_text("utf8")
        assert card == (inside / "README.md").read_text("utf8") and card.startswith(f"# {full} 1.2.3")
        assert spacy.load(inside).meta["performance"].keys() & {"ents_f", "word_f", "spans_sc_f"}
        own = f"packages/{full}-1.2.3/{full}/{full}-1.2.3/lex_matcher/lexicon"  # trained without the workflow
        assert (project / own).is_dir() and f"--vars.lexicon_folder {own} " in card
        assert srsly.read_json(folder / "meta.json")["requirements"][0].startswith("spacy-lexner>=")
        assert list(verify_pipeline(inside)) == []


def test_a_failure_does_not_stop_the_others(project, capsys):
    for place in ("corpus", "training"):  # entities in a corpus of words
        shutil.copytree(project / place / ("udc" if place == "corpus" else "weibo"), project / place / "mine")
    (project / "packages").mkdir()
    with pytest.raises(SystemExit):
        main(project / "packages")
    assert len(list((project / "packages").iterdir())) == 3
    out = capsys.readouterr().out
    assert "mine/flat is not packaged" in out and "no text is annotated with entities" in out
    assert "1 of 4 pipelines are not packaged: mine/flat" in out and "Traceback" not in out


def test_a_failure_leaves_the_earlier_package(project, monkeypatch):
    place = project / "packages" / "zh_lexner_weibo_flat-0.1.0"
    place.mkdir(parents=True)
    (place / "earlier").touch()

    def fails(*arguments, **options):
        raise SystemExit(1)

    monkeypatch.setattr(package, "package", fails)
    assert make_all([Training("weibo", "flat")], place.parent, version="0.1.0", results="")
    assert [path.name for path in place.parent.iterdir()] == [place.name] and (place / "earlier").exists()


def test_results_of_a_study(project, capsys):
    with pytest.raises(SystemExit):
        main(project / "packages", results=str(project / "typo.jsonl"))
    assert "There is no results file" in capsys.readouterr().out and not (project / "packages").exists()
    test = {"ents_f": 0.5, "ents_per_type": {}}
    lines = [{"dataset": "weibo", "system": "flat", "seed": seed, "test": test} for seed in range(3)]
    srsly.write_jsonl(project / "study.jsonl", lines)
    with pytest.raises(SystemExit):
        main(project / "packages", results=str(project / "study.jsonl"))
    assert "2 of 3 pipelines are not packaged: nested/spans_flat, udc/segmenter" in capsys.readouterr().out
    [made] = (project / "packages").iterdir()
    assert "over 3 seeds" in (made / "README.md").read_text("utf8")


@pytest.mark.parametrize(
    "parts, name",
    [
        (("weibo", "flat_bert"), "lexner_weibo_flat_bert"),
        (("我的 数据.1", "flat"), "lexner_1_flat"),
        (("My-Data", "flat"), "lexner_my_data_flat"),
        (("posts!",), "lexner_posts"),
    ],
)
def test_names_of_packages(parts, name):
    assert module_name(*parts) == name


def test_two_data_sets_with_one_name(monkeypatch, tmp_path, capsys):
    made = []
    monkeypatch.setattr(package, "make_package", lambda training, name, *rest, **options: made.append(name))
    trainings = [Training("my data", "flat"), Training("my.data", "flat"), Training("other", "flat")]
    assert make_all(trainings, tmp_path, version="0.1.0", results="") == trainings[1:2]
    assert made == ["lexner_my_data_flat", "lexner_other_flat"]
    assert "my data/flat is called lexner_my_data_flat already" in capsys.readouterr().out


def test_the_source_of_every_data_set_is_known():
    sources = srsly.read_yaml(DATA)
    assert sources.keys() >= DATASETS.keys()
    assert all(source.keys() >= {"title", "url", "license", "register"} for source in sources.values())
    assert (sources["bc5cdr"]["license"], sources["bc5cdr"]["language"]) == ("CC BY 4.0", "English")


def test_without_a_trained_pipeline(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(package, "PROJECT", tmp_path)
    with pytest.raises(SystemExit):
        main(tmp_path / "packages")
    assert "project run train" in capsys.readouterr().out


def test_the_demo_is_not_of_the_workflow_train(tmp_path):
    for place in ("corpus/demo/test.spacy", *(f"training/demo/{name}/model-best/config.cfg" for name in DEMO)):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    assert find_trained(tmp_path) == []
