"""The pictures of the service's page show the page as it is: the same words, in both languages."""

import importlib.util
from pathlib import Path

import pytest
import srsly
from headless import find_chromium, read_png

pytest.importorskip("playwright")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.timeout(900)
def test_pictures_are_those_of_the_page(tmp_path):
    find_chromium()
    spec = importlib.util.spec_from_file_location("draw_page", DOCS / "tools" / "draw_page.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    tool.draw(tmp_path)
    written = srsly.read_json(DOCS / "pictures" / "service.json")
    assert srsly.read_json(tmp_path / "service.json") == written, "run python docs/tools/draw_page.py"
    assert "Dictionary" in written["service.png"] and "词典" in written["service.zh.png"]
    for name in tool.LOCALES:
        taken, shown = (read_png((folder / name).read_bytes()) for folder in (tmp_path, DOCS / "pictures"))
        assert (taken.width, taken.height) == (shown.width, shown.height) == tuple(tool.SIZE.values())
