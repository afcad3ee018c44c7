"""The README's Python runs, and prints what the README says it prints."""

from pathlib import Path

from pages import run_page

PAGE = Path(__file__).parents[1] / "README.md"


def test_python_prints_what_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(PAGE, languages=("python",))
