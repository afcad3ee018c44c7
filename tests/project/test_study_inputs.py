"""What a run depends on: described by settings and digests, and compared."""

import json

import pytest
import study_inputs
from study_file import System
from study_inputs import changes, describe, digest, named_paths
from study_results import Run

from spacy_lexner.lexicon import Lexicon, LexiconEntry

RUN = Run("weibo", "flat", 0)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(study_inputs, "PROJECT", tmp_path / "project")
    monkeypatch.setattr(study_inputs, "CONFIGS", tmp_path / "configs")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "flat.cfg").write_text('[nlp]\nlang = "zh"\n', "utf8")
    (tmp_path / "project" / "corpus" / "weibo").mkdir(parents=True)
    for split in study_inputs.SPLITS:
        (tmp_path / "project" / "corpus" / "weibo" / f"{split}.spacy").write_text(split, "utf8")
    Lexicon.from_entries([LexiconEntry("北京"), LexiconEntry("上海")]).save(tmp_path / "project" / "lexicon" / "small")
    (tmp_path / "chars.vec").write_text("北 0.1", "utf8")
    return tmp_path


def test_a_description(project):
    system = System(title="FLAT", config="flat", lexicon="lexicon/small", arguments=["--a=1"])
    line = describe(RUN, {"flat": system}, ("--paths.character_vectors", "chars.vec"))
    assert json.loads(json.dumps(line)) == line
    assert line["arguments"] == ["--paths.character_vectors", "chars.vec"]
    assert line["settings"]["arguments"] == ["--a=1"] and "title" not in line["settings"]
    corpora = [f"project/corpus/weibo/{split}.spacy" for split in ("train", "dev", "test")]
    assert list(line["inputs"]) == [*corpora, "configs/flat.cfg", "project/lexicon/small", "chars.vec"]
    assert "project/corpus/weibo/test.spacy" not in describe(RUN, {"flat": system}, [], test=False)["inputs"]


def test_an_ensemble_depends_on_its_members(project):
    systems = {"flat": System(title="", config="flat"), "both": System(title="", members=["flat"])}
    before = describe(Run("weibo", "both", 0), systems, [])
    systems["flat"] = System(title="", config="flat", limit=5)
    assert list(changes(before, describe(Run("weibo", "both", 0), systems, []))) == [
        "members → flat → settings → limit: 0, now 5"
    ]


def test_data_that_changed_is_read_again(project):
    folder, file = project / "project" / "lexicon" / "small", project / "chars.vec"
    before = digest(folder), digest(file)
    Lexicon.from_entries([LexiconEntry("上海"), LexiconEntry("北京")]).save(folder, overwrite=True)
    assert (digest(folder), digest(file)) == before
    Lexicon.from_entries([LexiconEntry("上海")]).save(folder, overwrite=True)
    file.write_text("北 0.25", "utf8")
    assert digest(folder) != before[0] and digest(file) != before[1]


def test_comments_of_a_config_do_not_count(project):
    path = project / "configs" / "flat.cfg"
    before = digest(path)
    path.write_text("# Chinese.\n" + path.read_text("utf8"), "utf8")
    assert digest(path) == before
    path.write_text(path.read_text("utf8").replace("zh", "en"), "utf8")
    assert digest(path) != before


def test_data_named_in_arguments(project):
    (project / "bert").mkdir()
    (project / "bert" / "config.json").write_text("{}", "utf8")
    (project / "code.py").write_text("", "utf8")
    for arguments, names in [
        (["--paths.vectors", "chars.vec"], ["chars.vec"]),
        (["--paths.vectors=chars.vec", "paths.checkpoint=bert"], ["chars.vec", "bert"]),
        (['--model={"words":"project","path":"chars.vec","lang":"bert","x":""}'], ["chars.vec", "bert"]),
        (["--code", "code.py", "--training.max_steps=100", "--folder=project", "x" * 5000, "", "--x="], []),
    ]:
        assert [str(path) for path in named_paths(arguments)] == names


def test_changes(monkeypatch):
    line = {"arguments": ["--a", "$DATA/x"], "settings": {"limit": 0}, "inputs": {"a": "01", "b": "02"}, "dev": 0.5}
    now = {"arguments": ["--a", "/data/x"], "settings": {"limit": 0, "new": 1}, "inputs": {"a": "01", "c": "03"}}
    assert list(changes(line, now)) == ['arguments: ["--a", "$DATA/x"], now ["--a", "/data/x"]']
    monkeypatch.setenv("DATA", "/data")
    assert list(changes(line, now)) == list(changes({}, now)) == []
    assert list(changes(line, {**now, "inputs": {"a": "04"}})) == ['inputs → a: "01", now "04"']
