"""One run of a study: its command and its measurements."""

import shutil
import sys

import pytest
import spacy
import srsly
import study_runs
from spacy.tokens import DocBin
from spacy.util import load_config
from study_file import System
from study_results import Run
from study_runs import measure

TEXTS = [("我在北京", [(2, 4, "LOC")]), ("他去上海", [(2, 4, "LOC")])]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(study_runs, "PROJECT", tmp_path)
    nlp = spacy.blank("zh")
    (tmp_path / "corpus" / "weibo").mkdir(parents=True)
    for split in ("train", "dev", "test"):
        docs = []
        for text, entities in TEXTS[: 1 if split == "train" else 2]:
            docs.append(nlp(text))
            docs[-1].ents = [docs[-1].char_span(*entity[:2], label=entity[2]) for entity in entities]
        DocBin(docs=docs).to_disk(tmp_path / "corpus" / "weibo" / f"{split}.spacy")
    return tmp_path


def test_the_command(project, monkeypatch):
    commands = []
    monkeypatch.setattr(study_runs.subprocess, "run", lambda command, **_: commands.append(command) or Done())
    system = System(title="", config="flat", lexicon="lexicon", limit=7, arguments=["--a", "1"])
    study_runs.train(Run("weibo", "flat", 3), system, project / "out", ["--b", "2"], -1)
    joined = " ".join(commands[0])
    assert joined.startswith(f"{sys.executable} -m spacy train {project / 'out.cfg'} ")
    assert "--system.seed 3" in joined and "--corpora.train.limit 7" in joined
    assert joined.endswith("--a 1 --b 2") and f"--paths.lexicon {project / 'lexicon'}" in joined


def test_members_are_combined(project, monkeypatch):
    commands = []
    monkeypatch.setattr(study_runs.subprocess, "run", lambda command, **_: commands.append(command) or Done())
    study_runs.train(
        Run("weibo", "both", 3), System(title="", members=["flat", "ner"]), project / "weibo-both-3", [], -1
    )
    members = " ".join(str(project / f"weibo-{name}-3" / "model-best") for name in ("flat", "ner"))
    command = f"{sys.executable} -m spacy lexner combine {members} -o {project / 'weibo-both-3' / 'model-best'} --force"
    assert " ".join(commands[0]) == command


class Done:
    returncode = 0


@pytest.fixture
def finished(project):
    """The folder of a run that is trained: it finds 北京 only."""
    nlp = spacy.blank("zh")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "LOC", "pattern": [{"ORTH": char} for char in "北京"]}])
    (project / "out").mkdir()
    nlp.to_disk(project / "out" / "model-best")
    meta = srsly.read_json(project / "out" / "model-best" / "meta.json")
    srsly.write_json(project / "out" / "model-best" / "meta.json", {**meta, "performance": {"ents_f": 0.25}})
    return project / "out"


def test_measure(finished):
    line = measure(Run("weibo", "ner", 0), System(title="", config="baseline"), finished, -1)
    assert line["dev"] == 0.25 and line["megabytes"] > 0
    assert line["counts"] == [[1, 0, 0], [0, 0, 1]]
    combined = measure(Run("weibo", "both", 0), System(title="", members=["flat", "ner"]), finished, -1, test=False)
    assert combined["dev"] == line["test"]["ents_f"]  # in this project dev is test
    assert line["test"]["ents_r"] == 0.5 and (line["test"]["recall_seen"], line["test"]["recall_unseen"]) == (1.0, 0.0)


def test_entities_in_texts_beyond_the_limit_are_unseen(finished, project):
    """Whether the study sets the limit or its command does, the pipeline's config has it."""
    shutil.copy(project / "corpus" / "weibo" / "test.spacy", project / "corpus" / "weibo" / "train.spacy")
    run, system = Run("weibo", "ner", 0), System(title="", config="baseline")
    scores = measure(run, system, finished, -1)["test"]
    assert (scores["n_seen"], scores["n_unseen"]) == (2, 0)
    config = load_config(finished / "model-best" / "config.cfg")
    config["corpora"]["train"]["limit"] = 1
    config.to_disk(finished / "model-best" / "config.cfg")
    scores = measure(run, system, finished, -1)["test"]
    assert (scores["n_seen"], scores["n_unseen"]) == (1, 1)


def test_to_choose_settings_test_is_left_alone(finished, project):
    (project / "corpus" / "weibo" / "test.spacy").unlink()
    line = measure(Run("weibo", "ner", 0), System(title="", config="baseline"), finished, -1, test=False)
    assert (line["dev"], line["test"], line["counts"]) == (0.25, {}, [])
