import json

import spacy
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner


def test_command(tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_lexner.cli.model.annotate.LOG_SECONDS", -1.0)
    nlp = spacy.blank("zh")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "南京"}])
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "in.jsonl").write_text('{"body": "我在南京"}\n{"text": "看"}\n', "utf8")
    arguments = ["annotate", *(str(tmp_path / name) for name in ("model", "in.jsonl", "out")), "--field", "body"]
    result = CliRunner().invoke(lexner, [*arguments, "--strict"])
    output = " ".join(result.output.split())
    assert result.exit_code == 1 and "1 texts could not be annotated" in output
    assert "2 texts, 4 characters, 1 entities" in output
    assert "100%, 2 texts" in output, "a line a minute where there is no terminal"
    [row] = map(json.loads, (tmp_path / "out" / "part-00000.jsonl").read_text("utf8").splitlines())
    assert [ent["text"] for ent in row["entities"]] == ["南京"]
    assert CliRunner().invoke(lexner, arguments).exit_code == 0
    result = CliRunner().invoke(lexner, [*arguments, "--words"])
    assert result.exit_code == 1 and "another run" in " ".join(result.output.split())
    result = CliRunner().invoke(lexner, [*arguments[:2], str(tmp_path / "no.txt"), str(tmp_path / "new")])
    assert result.exit_code == 1 and "no such file" in " ".join(result.output.split())


def test_what_is_no_pipeline(tmp_path):
    (tmp_path / "notamodel").mkdir()
    (tmp_path / "t.txt").write_text("我在南京\n", "utf8")
    nlp = spacy.blank("zh")
    nlp.to_disk(tmp_path / "model")
    texts, out = str(tmp_path / "t.txt"), str(tmp_path / "out")
    result = CliRunner().invoke(lexner, ["annotate", str(tmp_path / "notamodel"), texts, out])
    assert isinstance(result.exception, SystemExit) and "cannot be used" in " ".join(result.output.split())
    result = CliRunner().invoke(lexner, ["annotate", str(tmp_path / "model"), texts, out])
    assert result.exit_code == 0, "nothing was done that another pipeline would contradict"


def test_timeout(tmp_path):
    (tmp_path / "t.txt").write_text("我在南京\n", "utf8")
    arguments = ["annotate", "model", str(tmp_path / "t.txt"), str(tmp_path / "out"), "--timeout", "0"]
    result = CliRunner().invoke(lexner, arguments)
    assert result.exit_code == 2 and "--timeout" in result.output and not (tmp_path / "out").exists()
