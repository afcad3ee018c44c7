"""All data sets that are to be protected are converted before a text is compared with them."""

import protect_texts
import pytest
from check_overlap import SETS, SPLITS


@pytest.fixture
def run(monkeypatch):
    """Notes the commands instead of running them; `fails` says which of them do."""
    noted = []

    def note(command, check):
        noted.append(command[1:])
        failed = any(part in command for part in note.fails)
        return type("Done", (), {"returncode": int(failed)})

    note.fails = ()
    note.noted = noted
    monkeypatch.setattr(protect_texts.subprocess, "run", note)
    return note


def test_every_set_is_brought_converted_and_split(run, tmp_path):
    protect_texts.main(SETS, tmp_path, "data")
    assert len(run.noted) == 3 * 4
    assert run.noted[0] == ["scripts/fetch_assets.py", "weibo", "--data-dir", "data"]
    assert run.noted[1][:4] == ["-m", "spacy", "lexner", "convert"]
    assert run.noted[2] == [
        "scripts/split_dataset.py",
        "weibo",
        str(tmp_path / "weibo/original"),
        str(tmp_path / "weibo"),
    ]


def test_what_is_there_stays(run, tmp_path):
    (tmp_path / "resume").mkdir()
    for split in SPLITS:
        (tmp_path / "resume" / f"{split}.spacy").touch()
    protect_texts.main("resume", tmp_path)
    assert not run.noted


def test_a_set_that_cannot_be_brought_is_named_with_the_remedy(run, tmp_path, capsys):
    run.fails = ("scripts/fetch_assets.py",)
    with pytest.raises(SystemExit):
        protect_texts.main("msra", tmp_path)
    assert len(run.noted) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "dev and test splits of msra are not there" in out and "vars.protected" in out
    with pytest.raises(SystemExit):
        protect_texts.main("msra people_daily", tmp_path)


def test_the_commands_are_those_of_the_workflow_data(project_dir):
    workflow = (project_dir / "project.yml").read_text("utf8")
    for part in ("scripts/fetch_assets.py", "lexner convert assets/", "--repair", "scripts/split_dataset.py"):
        assert part in workflow
        assert any(
            part.split()[-1].removeprefix("assets/") in " ".join(c)
            for c in protect_texts.commands("x", project_dir, "")
        )
