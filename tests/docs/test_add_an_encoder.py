"""The five steps of docs/architecture.md make an encoder that trains, saves, loads and reads long Docs."""

from pathlib import Path

from pages import run_page

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"


def test_five_steps_make_an_encoder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    run_page(PAGE, languages=("python",))
