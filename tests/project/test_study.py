"""The study: one line per run, each run once, a table of means."""

import json

import pytest
import study
from study import Run, read_results, run_study, spread, summarise


class Context:
    args = ()


def line(dataset, system, seed, f):
    test = {"ents_p": f, "ents_r": f, "ents_f": f, "recall_unseen": None}
    return {"dataset": dataset, "system": system, "seed": seed, "dev_f": f, "test": test}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "PROJECT", tmp_path)
    for split in ("train", "dev", "test"):
        path = tmp_path / "corpus" / "weibo" / f"{split}.spacy"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "lexicon").mkdir()
    return tmp_path


def do(project, results, **settings):
    run_study(
        Context(),
        results,
        settings.pop("dataset", ["weibo"]),
        **{"lexicon": project / "lexicon", "empty": project / "lexicon", "system": None, "seeds": 2, **settings},
    )


def test_resumes(project, tmp_path, monkeypatch):
    done = []

    def train(run, lexicons, out, overrides, gpu_id):
        if len(done) == 3:
            raise KeyboardInterrupt
        out.mkdir(parents=True)
        return 1.0

    def measure(run, out, gpu_id):
        done.append(run)
        return {"dev_f": 0.5, "test": {"ents_f": 0.5}}

    monkeypatch.setattr(study, "train", train)
    monkeypatch.setattr(study, "measure", measure)
    results = tmp_path / "metrics" / "study.jsonl"
    with pytest.raises(KeyboardInterrupt):
        do(project, results)
    assert len(read_results(results)) == 3
    monkeypatch.setattr(study, "train", lambda run, lexicons, out, *rest: out.mkdir(parents=True) or 1.0)
    do(project, results)
    assert done == [Run("weibo", system, seed) for seed in range(2) for system in study.SYSTEMS]
    assert not list((project / "training" / "study").iterdir())


def test_a_failed_run_is_told_and_the_others_go_on(project, tmp_path, monkeypatch, capsys):
    def train(run, lexicons, out, overrides, gpu_id):
        if run.system == "ner":
            raise RuntimeError("it broke")
        out.mkdir(parents=True)
        return 1.0

    monkeypatch.setattr(study, "train", train)
    monkeypatch.setattr(study, "measure", lambda *args: {"dev_f": 0.5, "test": {}})
    with pytest.raises(SystemExit):
        do(project, tmp_path / "study.jsonl", seeds=1)
    assert "it broke" in capsys.readouterr().out
    assert {run.system for run in read_results(tmp_path / "study.jsonl")} == {"lebert", "lebert-empty"}


@pytest.mark.parametrize(
    "settings, message",
    [({"dataset": ["resume"]}, "missing"), ({"system": ["flair"]}, "Known are")],
)
def test_errors(project, tmp_path, capsys, settings, message):
    with pytest.raises(SystemExit):
        do(project, tmp_path / "study.jsonl", **settings)
    assert message in capsys.readouterr().out


def test_table(tmp_path):
    lines = [line("weibo", "ner", seed, f) for seed, f in enumerate((0.4, 0.5, 0.6))]
    lines += [line("weibo", "lebert", 0, 0.7), line("resume", "ner", 0, 0.9)]
    path = tmp_path / "study.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), "utf8")
    table = list(summarise(read_results(path)))
    assert [row.split(" | ")[0] for row in table[2:]] == ["| resume", "| weibo", "| weibo"]
    assert "50.0 ± 10.0" in table[4] and table[4].endswith("| 3 |")
    assert "LEBERT" in table[3] and "70.0 |" in table[3]


def test_spread():
    assert (spread([None]), spread([0.5]), spread([0.5, None])) == ("–", "50.0", "50.0")
