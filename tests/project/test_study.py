"""The study: one line per run, each run once; its measurements."""

import sys

import pytest
import spacy
import srsly
import study
from spacy.tokens import DocBin
from study import Run, measure, read_results, run_study
from study_file import System

SYSTEMS = """
description: ""
columns: {ents_f: "F1"}
systems:
  flat: {title: "FLAT", config: flat, lexicon: lexicon}
  ner: {title: "spaCy", config: baseline}
"""
TEXTS = [("我在北京", [(2, 4, "LOC")]), ("他去上海", [(2, 4, "LOC")])]


class Context:
    args = ()


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "PROJECT", tmp_path)
    nlp = spacy.blank("zh")
    for split in study.SPLITS:
        docs = []
        for text, entities in TEXTS[: 1 if split == "train" else 2]:
            docs.append(nlp(text))
            docs[-1].ents = [docs[-1].char_span(*entity[:2], label=entity[2]) for entity in entities]
        path = tmp_path / "corpus" / "weibo" / f"{split}.spacy"
        path.parent.mkdir(parents=True, exist_ok=True)
        DocBin(docs=docs).to_disk(path)
    (tmp_path / "lexicon").mkdir()
    (tmp_path / "small.yml").write_text(SYSTEMS, "utf8")
    return tmp_path


def do(project, results, **settings):
    settings = {"dataset": ["weibo"], "system": None, "seeds": 2, "dev_only": False, "keep": False, **settings}
    run_study(Context(), project / "small.yml", results, **settings)


def trained(run, system, out, *rest):
    out.mkdir(parents=True)
    return 1.0


def measured(run, system, out, gpu_id, *, test):
    return {"dev": 0.5, "test": {"ents_f": 0.5} if test else {}, "counts": []}


def test_resumes(project, tmp_path, monkeypatch):
    done = []

    def train_some(run, *rest):
        if len(done) == 3:
            raise KeyboardInterrupt
        return trained(run, *rest)

    def note(run, *rest, **options):
        done.append(run)
        return measured(run, *rest, **options)

    monkeypatch.setattr(study, "train", train_some)
    monkeypatch.setattr(study, "measure", note)
    results = tmp_path / "metrics" / "study.jsonl"
    with pytest.raises(KeyboardInterrupt):
        do(project, results)
    assert len(read_results(results)) == 3
    monkeypatch.setattr(study, "train", trained)
    do(project, results)
    assert done == [Run("weibo", system, seed) for seed in range(2) for system in ("flat", "ner")]
    assert not list((project / "training" / "small").iterdir())


def test_a_failed_run_is_reported_and_the_others_go_on(project, tmp_path, monkeypatch, capsys):
    def fail(run, *rest):
        if run.system == "ner":
            raise RuntimeError("it broke")
        return trained(run, *rest)

    monkeypatch.setattr(study, "train", fail)
    monkeypatch.setattr(study, "measure", measured)
    with pytest.raises(SystemExit):
        do(project, tmp_path / "study.jsonl", seeds=1)
    assert "it broke" in capsys.readouterr().out
    assert {run.system for run in read_results(tmp_path / "study.jsonl")} == {"flat"}


@pytest.mark.parametrize(
    "settings, message",
    [({"dataset": ["resume"]}, "missing"), ({"system": ["flair"]}, "Known are")],
)
def test_errors(project, tmp_path, capsys, settings, message):
    with pytest.raises(SystemExit):
        do(project, tmp_path / "study.jsonl", **settings)
    assert message in capsys.readouterr().out


def test_the_command(project, monkeypatch):
    commands = []
    monkeypatch.setattr(study.subprocess, "run", lambda command, **_: commands.append(command) or Done())
    system = System(title="", config="flat", lexicon="lexicon", limit=7, arguments=["--a", "1"])
    study.train(Run("weibo", "flat", 3), system, project / "out", ["--b", "2"], -1)
    joined = " ".join(commands[0])
    assert joined.startswith(f"{sys.executable} -m spacy train {project / 'out.cfg'} ")
    assert "--system.seed 3" in joined and "--corpora.train.limit 7" in joined
    assert joined.endswith("--a 1 --b 2") and f"--paths.lexicon {project / 'lexicon'}" in joined


def test_members_are_combined(project, monkeypatch):
    commands = []
    monkeypatch.setattr(study.subprocess, "run", lambda command, **_: commands.append(command) or Done())
    study.train(Run("weibo", "both", 3), System(title="", members=["flat", "ner"]), project / "weibo-both-3", [], -1)
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


def test_to_choose_settings_test_is_left_alone(finished, project):
    (project / "corpus" / "weibo" / "test.spacy").unlink()
    line = measure(Run("weibo", "ner", 0), System(title="", config="baseline"), finished, -1, test=False)
    assert (line["dev"], line["test"], line["counts"]) == (0.25, {}, [])
