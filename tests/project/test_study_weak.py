"""The study of learning from a dictionary, with invented sentences and a few training steps."""

import pytest
import srsly
import study_weak
from small_training import make_docs, make_texts, save_config, save_docs
from study_weak import app, read_systems, training_dictionary
from typer.testing import CliRunner


def invoke(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(study_weak, "PROJECT", tmp_path)
    monkeypatch.setattr(study_weak, "CONFIGS", tmp_path)
    save_config(tmp_path / "flat.cfg", training__max_steps=4, training__eval_frequency=2)
    (tmp_path / "corpus" / "small").mkdir(parents=True)
    for seed, split in enumerate(("train", "dev", "test")):
        save_docs(tmp_path / "corpus" / "small" / f"{split}.spacy", make_texts(60, seed=seed))
    return tmp_path


def test_all_of_it(project, project_dir):
    study, results = project_dir / "studies" / "weak" / "systems.yml", project / "metrics" / "weak.jsonl"
    systems = [
        part for name in ("matching", "full", "students", "few-50", "few-50-words") for part in ("--system", name)
    ]
    arguments = ["run", study, results, "--dataset", "small", "--seeds", 1, *systems]
    invoke(*arguments)
    rows = list(srsly.read_jsonl(results))
    assert [row["system"] for row in rows] == systems[1::2] and set(rows[0]) >= {"dev", "test"}
    assert rows[0]["test"]["ents_f"] > 0.5
    invoke(*arguments)  # nothing is left to do
    assert len(list(srsly.read_jsonl(results))) == 5
    table = invoke("table", study, results)
    assert "| FLAT, full annotation |" in table and "| small | F1 |" in table


@pytest.fixture
def run(project, project_dir):
    """Runs the fastest system, matching, with more arguments."""
    study, results = project_dir / "studies" / "weak" / "systems.yml", project / "weak.jsonl"
    arguments = ["run", study, results, "--dataset", "small", "--seeds", 1, "--system", "matching"]
    return results, lambda *more: CliRunner().invoke(app, list(map(str, [*arguments, *more])))


def test_other_texts_like_the_training_texts(run, project):
    results, start = run
    (project / "text.txt").write_text("决定发展经济建设国家\n" * 3 + make_texts(1, seed=9)[0][0], "utf8")
    assert start("--system", "negatives", "--text", project / "text.txt", "--like").exit_code == 0
    assert [(row["system"], row["like"]) for row in srsly.read_jsonl(results)] == [
        ("matching", True),
        ("negatives", True),
    ]
    labels = srsly.read_json(project / "training" / "weak" / "small-negatives-0" / "labels" / "statistics.json")
    assert labels["texts"] <= 61


def test_a_failed_run_is_reported_and_the_others_go_on(run, monkeypatch):
    results, start = run
    monkeypatch.setattr(study_weak, "learn", lambda *rest, **settings: {}["it broke"])
    done = start("--system", "labels", "--seeds", 2)
    assert done.exit_code == 1 and "small-labels-0 failed: 'it broke'" in done.output and "2 runs failed" in done.output
    assert [(row["system"], row["seed"]) for row in srsly.read_jsonl(results)] == [("matching", 0), ("matching", 1)]


@pytest.mark.parametrize(
    "other", [["--share", 0.5], ["--set", "training.max_steps=1"], ["--text", "{}/text.txt"], ["--like"]]
)
def test_results_of_other_settings_are_not_mixed(run, project, other):
    results, start = run
    (project / "text.txt").write_text("我在北京", "utf8")
    assert start().exit_code == 0
    again = start(*(str(part).format(project) for part in other))
    assert again.exit_code == 1 and "small-matching-0" in again.output and len(list(srsly.read_jsonl(results))) == 1


def test_results_of_other_data_are_not_mixed(run, project):
    results, start = run
    assert start().exit_code == 0
    save_docs(project / "corpus" / "small" / "dev.spacy", make_texts(9, seed=9))
    again = start()
    assert again.exit_code == 1 and "dev.spacy: " in again.output
    [row] = srsly.read_jsonl(results)
    srsly.write_jsonl(results, [{key: row[key] for key in row if key not in ("settings", "inputs", "text")}])
    assert start().exit_code == 0 and len(list(srsly.read_jsonl(results))) == 1  # a line of an older version


def test_a_line_without_test_or_cut_off_is_a_missing_run(run):
    results, start = run
    assert start("--dev-only").exit_code == 0 and "test" not in next(srsly.read_jsonl(results))
    assert start().exit_code == 0
    [row] = srsly.read_jsonl(results)
    assert "test" in row
    whole = results.read_bytes()
    results.write_bytes(whole[:-30])
    assert start().exit_code == 0 and results.read_bytes() == whole


def test_a_share_of_the_dictionary():
    docs = make_docs(make_texts(200))
    whole, half = (training_dictionary(docs, share, 0) for share in (1.0, 0.5))
    assert {ent.text for doc in docs for ent in doc.ents} == set(whole.labels)
    assert set(half.labels) < set(whole.labels) and 0.3 < len(half.labels) / len(whole.labels) < 0.7


def test_the_systems(project_dir):
    systems = read_systems(project_dir / "studies" / "weak" / "systems.yml")
    assert systems["full"].rounds is None and systems["students"].rounds == 3


def test_an_unknown_system_or_file(run, project_dir):
    _, start = run
    result = start("--system", "matchin")
    assert result.exit_code and "Unknown system 'matchin'" in result.output
    study = project_dir / "studies" / "weak" / "systems.yml"
    result = CliRunner().invoke(app, ["table", str(study), "none.jsonl"])
    assert result.exit_code and "does not exist" in result.output
