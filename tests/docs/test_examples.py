"""The lattice and the reports shown on the pages are what the package draws."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_pictures_are_drawn_from_their_source():
    spec = importlib.util.spec_from_file_location("draw_examples", DOCS / "tools" / "draw_examples.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    drawn = tool.draw()
    assert sorted(drawn) == ["lattice.svg", "report.html", "report.zh.html"]
    for name, content in drawn.items():
        assert content == (DOCS / "pictures" / name).read_text("utf8"), "run python docs/tools/draw_examples.py"
