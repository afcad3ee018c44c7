import io
import json

import pytest
import spacy

from spacy_lexner.training.log import log_to_file


@pytest.fixture
def nlp():
    nlp = spacy.blank("zh")
    nlp.config["training"] = {"max_steps": 4, "score_weights": {"ents_f": 1.0, "ents_per_type": None, "speed": 0.0}}
    return nlp


def evaluation(step):
    scores = {"ents_f": 0.25, "ents_per_type": {}, "speed": 100, "other": 1.0}
    return {"epoch": 1, "step": step, "losses": {"ner": 2}, "score": 0.25, "other_scores": scores}


def test_lines_are_written_at_once_and_appended(nlp, tmp_path):
    path = tmp_path / "run" / "log.jsonl"
    expected = {"epoch": 1, "losses": {"ner": 2.0}, "scores": {"ents_f": 25.0, "speed": 100.0}, "score": 0.25}
    for step in (2, 4):
        log_step, finalize = log_to_file(path)(nlp, io.StringIO(), io.StringIO())
        log_step(None)
        log_step(evaluation(step))
        lines = [json.loads(line) for line in path.read_text("utf8").splitlines()]
        assert lines[-1] == {**expected, "step": step}
        finalize()
    assert len(lines) == 2


def test_a_missing_score_is_zero(nlp, tmp_path):
    log_step, finalize = log_to_file(tmp_path / "log.jsonl")(nlp, io.StringIO(), io.StringIO())
    log_step({**evaluation(1), "other_scores": {"ents_f": None}})
    finalize()
    assert json.loads((tmp_path / "log.jsonl").read_text("utf8"))["scores"] == {"ents_f": 0.0, "speed": 0.0}


def test_a_terminal_shows_updates_and_score(nlp, tmp_path):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    log_step, finalize = log_to_file(tmp_path / "log.jsonl")(nlp, io.StringIO(), terminal)
    log_step(None)
    log_step(evaluation(2))
    finalize()
    assert "| 2/4" in terminal.getvalue() and "score=25.0" in terminal.getvalue()


def test_without_a_terminal_nothing_is_shown(nlp, tmp_path):
    shown = io.StringIO()
    log_step, finalize = log_to_file(tmp_path / "log.jsonl")(nlp, shown, shown)
    log_step(evaluation(4))
    finalize()
    assert not shown.getvalue()
