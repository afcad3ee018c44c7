"""The README's Python runs, and prints what the README says it prints."""

from importlib import metadata
from pathlib import Path

import pytest
from pages import read_blocks, run_page
from thinc.api import Config

PAGE = Path(__file__).parents[1] / "README.md"
README = PAGE.read_text("utf8")


def test_python_prints_what_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(PAGE, languages=("python",))


@pytest.mark.parametrize("block", [block.body for block in read_blocks(PAGE) if block.language == "ini"])
def test_configs_parse(block):
    assert Config().from_str(block, interpolate=False)


def test_every_registered_name_is_in_the_table():
    points = metadata.distribution("spacy-lexner").entry_points
    names = {
        point.name for point in points if point.name.startswith("spacy-lexner.") or point.group == "spacy_factories"
    }
    assert {name for name in names if f"`{name}`" not in README} == set()
