"""All protected data sets are converted before texts are compared with them."""

import protect_texts
import pytest
import typer
from check_overlap import SETS
from paths import SPLITS


@pytest.fixture
def noted(monkeypatch):
    """Records what would be fetched and converted."""
    noted = []
    monkeypatch.setattr(protect_texts.fetch_assets, "main", lambda name, data_dir: noted.append((name, data_dir)))
    monkeypatch.setattr(protect_texts.convert_dataset, "main", lambda name, corpus: noted.append((name, corpus)))
    return noted


def test_every_set_is_brought_and_converted(noted, tmp_path):
    protect_texts.main(SETS, tmp_path, "data")
    assert noted == [(name, place) for name in SETS.split() for place in ("data", tmp_path)]


def test_what_is_there_stays(noted, tmp_path):
    (tmp_path / "resume").mkdir()
    for split in SPLITS:
        (tmp_path / "resume" / f"{split}.spacy").touch()
    protect_texts.main("resume", tmp_path)
    assert not noted


@pytest.mark.parametrize("error", [SystemExit, typer.Exit])
def test_a_set_that_cannot_be_brought_is_named_with_the_remedy(noted, tmp_path, monkeypatch, capsys, error):
    def fail(name, data_dir):
        raise error(1)

    monkeypatch.setattr(protect_texts.fetch_assets, "main", fail)
    with pytest.raises(SystemExit):
        protect_texts.main("msra", tmp_path)
    out = " ".join(capsys.readouterr().out.split())
    assert "dev and test splits of msra are missing" in out and "vars.protected" in out
    with pytest.raises(SystemExit):
        protect_texts.main("msra people_daily", tmp_path)
    assert not noted
