"""The study: one line per run, each run once; what stops a run, and what stops a study."""

import pytest
import srsly
import study
import study_inputs
from study import Run, read_results, run_study
from typer.testing import CliRunner

from spacy_lexner.lexicon import Lexicon, LexiconEntry

SYSTEMS = """
description: ""
columns: {ents_f: "F1"}
systems:
  flat: {title: "FLAT", config: flat, lexicon: lexicon}
  ner: {title: "spaCy", config: baseline}
"""
BOTH = '  both: {title: "both", members: [flat, ner]}\n'


class Context:
    def __init__(self, args):
        self.args = args


class Steps:
    """Stands for training and evaluation: notes the runs, and fails if told to."""

    def __init__(self):
        self.trained, self.measured, self.broken = [], [], {}

    def train(self, run, system, out, overrides, gpu_id):
        self.trained.append(run.name)
        self._check("train", run)
        (out / "model-best").mkdir(parents=True)
        return 1.0

    def measure(self, run, system, out, gpu_id, *, test):
        assert (out / "model-best").is_dir()
        self.measured.append(run.name)
        self._check("measure", run)
        return {"dev": 0.5, "test": {"ents_f": 0.5} if test else {}, "counts": []}

    def _check(self, step, run):
        if error := self.broken.get((step, run.system)):
            raise error


@pytest.fixture
def steps(monkeypatch):
    steps = Steps()
    monkeypatch.setattr(study, "train", steps.train)
    monkeypatch.setattr(study, "measure", steps.measure)
    return steps


@pytest.fixture
def project(tmp_path, monkeypatch):
    for module in (study, study_inputs):
        monkeypatch.setattr(module, "PROJECT", tmp_path)
    (tmp_path / "corpus" / "weibo").mkdir(parents=True)
    for split in study.SPLITS:
        (tmp_path / "corpus" / "weibo" / f"{split}.spacy").write_text(split, "utf8")
    Lexicon.from_entries([LexiconEntry("北京")]).save(tmp_path / "lexicon")
    (tmp_path / "small.yml").write_text(SYSTEMS, "utf8")
    return tmp_path


def do(project, *overrides, **settings):
    settings = {"dataset": ["weibo"], "system": None, "seeds": 1, "dev_only": False, "keep": False, **settings}
    run_study(Context(list(overrides)), project / "small.yml", results_of(project), **settings)


def results_of(project):
    return project / "metrics" / "study.jsonl"


def test_resumes(project, steps):
    steps.broken["train", "ner"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        do(project, seeds=2)
    assert list(read_results(results_of(project))) == [Run("weibo", "flat", 0)]
    steps.broken.clear()
    do(project, seeds=2)
    assert steps.measured == [f"weibo-{system}-{seed}" for seed in range(2) for system in ("flat", "ner")]
    assert not list((project / "training" / "small").iterdir())


def test_a_failed_training_is_reported_and_the_others_go_on(project, steps, capsys):
    steps.broken["train", "flat"] = RuntimeError("it broke")
    with pytest.raises(SystemExit):
        do(project)
    assert "weibo-flat-0: it broke" in capsys.readouterr().out
    assert {run.system for run in read_results(results_of(project))} == {"ner"}


@pytest.mark.parametrize("error", [ValueError("out of memory"), SystemExit(1)])
def test_a_failed_evaluation_does_not_stop_the_others_and_costs_no_training(project, steps, capsys, error):
    steps.broken["measure", "flat"] = error
    with pytest.raises(SystemExit):
        do(project)
    shown = capsys.readouterr().out
    assert "weibo-flat-0: trained, but not evaluated" in shown and "1 runs failed" in shown
    assert type(error).__name__ in (project / "training" / "small" / "weibo-flat-0.log").read_text("utf8")
    assert {run.system for run in read_results(results_of(project))} == {"ner"}
    steps.broken.clear()
    do(project)
    assert steps.trained == ["weibo-flat-0", "weibo-ner-0"]
    assert read_results(results_of(project))[Run("weibo", "flat", 0)]["seconds"] == 1.0


def test_a_pipeline_with_other_settings_is_trained_again(project, steps):
    steps.broken["measure", "flat"] = ValueError("out of memory")
    with pytest.raises(SystemExit):
        do(project, "--training.max_steps=1", system=["flat"])
    steps.broken.clear()
    do(project, "--training.max_steps=2", system=["flat"])
    assert steps.trained == ["weibo-flat-0"] * 2


def change_lexicon(project):
    Lexicon.from_entries([LexiconEntry("上海")]).save(project / "lexicon", overwrite=True)
    return "lexicon: "


def change_corpus(project):
    (project / "corpus" / "weibo" / "test.spacy").write_text("another", "utf8")
    return "corpus/weibo/test.spacy: "


def change_study(project):
    (project / "small.yml").write_text(SYSTEMS.replace("lexicon: lexicon", "limit: 5, lexicon: lexicon"), "utf8")
    return "settings → limit: 0, now 5"


@pytest.mark.parametrize("change", [change_lexicon, change_corpus, change_study])
def test_results_of_other_data_are_not_mixed(project, steps, capsys, change):
    do(project)
    name = change(project)
    with pytest.raises(SystemExit):
        do(project, seeds=2)
    shown = capsys.readouterr().out
    assert name in shown and "weibo-flat-0" in shown and "remove these lines" in shown
    assert len(steps.trained) == 2


def test_results_of_other_overrides_are_not_mixed(project, steps, capsys):
    do(project, "--training.max_steps=100")
    with pytest.raises(SystemExit):
        do(project, "--training.max_steps=6000")
    assert '["--training.max_steps=100"], now ["--training.max_steps=6000"]' in capsys.readouterr().out


def test_systems_on_other_data_are_not_compared(project, steps, capsys):
    """A line that is not to be done again may have other settings, but not another corpus by the same name."""
    do(project, "--a=1", system=["ner"])
    do(project, "--a=2", system=["flat"])
    change_lexicon(project)  # ner has none
    results_of(project).write_text(results_of(project).read_text("utf8").split("\n")[0], "utf8")
    do(project, "--a=2", system=["flat"])
    change_corpus(project)
    with pytest.raises(SystemExit):
        do(project, "--a=2", system=["flat"], seeds=2)
    assert "test.spacy: " in capsys.readouterr().out and len(steps.trained) == 3


def test_what_changes_no_result_is_no_difference(project, steps):
    do(project)
    Lexicon.from_entries([LexiconEntry("北京")]).save(project / "lexicon", overwrite=True)
    (project / "small.yml").write_text(SYSTEMS.replace("FLAT", "the FLAT"), "utf8")
    do(project)
    assert len(steps.trained) == 2


def test_lines_of_older_versions_count_if_the_overrides_agree(project, steps):
    do(project, "--a=1")
    new = ("settings", "inputs")
    old = [{key: value for key, value in line.items() if key not in new} for line in read_results_list(project)]
    srsly.write_jsonl(results_of(project), old)
    do(project, "--a=1")
    assert len(steps.trained) == 2
    with pytest.raises(SystemExit):
        do(project, "--a=2")


def read_results_list(project):
    return list(read_results(results_of(project)).values())


@pytest.mark.parametrize("keep, n_trained", [(True, 1), (False, 2)])
def test_scores_on_test_are_added_to_a_trial_on_dev(project, steps, keep, n_trained):
    do(project, system=["flat"], dev_only=True, keep=keep)
    assert read_results_list(project)[0]["test"] == {}
    do(project, system=["flat"], keep=keep)
    do(project, system=["flat"], dev_only=True)  # nothing is left to do
    [line] = srsly.read_jsonl(results_of(project))
    assert line["test"] and len(steps.trained) == n_trained


def test_a_line_cut_off_is_a_missing_run(project, steps, capsys):
    do(project)
    whole = results_of(project).read_bytes()
    results_of(project).write_bytes(whole[:-20])
    do(project)
    assert "cut off" in capsys.readouterr().out
    assert steps.trained == ["weibo-flat-0", "weibo-ner-0", "weibo-ner-0"] and results_of(project).read_bytes() == whole


def test_an_unusable_gpu_is_found_before_anything_is_trained(project, steps, monkeypatch, capsys):
    def fail(gpu_id):
        raise ValueError("no GPU")

    monkeypatch.setattr("pipelines.require_gpu", fail)
    with pytest.raises(SystemExit):
        do(project, gpu_id=0)
    assert "GPU 0 cannot be used: no GPU" in capsys.readouterr().out and not steps.trained
    do(project)
    do(project, gpu_id=0)  # nothing is left to do


def test_members_with_other_settings_are_not_combined(project, steps, capsys):
    (project / "small.yml").write_text(SYSTEMS + BOTH, "utf8")
    do(project, "--a=1", keep=True)
    assert {run.system for run in read_results(results_of(project))} == {"flat", "ner", "both"}
    results_of(project).unlink()
    with pytest.raises(SystemExit):
        do(project, "--a=2", system=["both"])
    assert 'arguments: ["--a=1"], now ["--a=2"]' in capsys.readouterr().out
    (project / "training" / "small" / "weibo-flat-0" / "run.json").unlink()  # as an older version left it
    (project / "training" / "small" / "weibo-ner-0" / "run.json").write_text("{", "utf8")
    do(project, "--a=2", system=["both"])


@pytest.mark.parametrize(
    "settings, message",
    [({"dataset": ["resume"]}, "missing"), ({"system": ["flair"]}, "Known are")],
)
def test_errors(project, capsys, settings, message):
    with pytest.raises(SystemExit):
        do(project, **settings)
    assert message in capsys.readouterr().out


def test_a_missing_config_is_found_at_once(project, steps, capsys):
    (project / "small.yml").write_text(SYSTEMS.replace("config: baseline", "config: base"), "utf8")
    with pytest.raises(SystemExit):
        do(project)
    assert "base.cfg is missing" in capsys.readouterr().out and not steps.trained


@pytest.mark.parametrize(
    "arguments, message",
    [(["table", "STUDY", "NONE"], "does not exist"), (["compare", "NONE", "flat", "ner"], "does not exist"),
     (["types", "STUDY", "NONE"], "does not exist"), (["compare", "RESULTS", "flat", "net"], "Known are flat, ner")],
)  # fmt: skip
def test_no_table_of_nothing(project, steps, arguments, message):
    do(project)
    places = {"STUDY": project / "small.yml", "RESULTS": results_of(project), "NONE": project / "none.jsonl"}
    result = CliRunner().invoke(study.app, [str(places.get(each, each)) for each in arguments])
    assert result.exit_code and message in result.output
