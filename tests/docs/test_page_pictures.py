"""The pictures of the service's page are taken from it as it is. Their letters differ from machine to machine, so what is
compared is where boxes of one colour lie: a coarse picture."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from headless import find_chromium, read_png

pytest.importorskip("playwright")
DOCS = Path(__file__).parents[2] / "docs"
CELL = 40  # pixels; one letter more or less in a cell of 1,600 pixels hardly changes its mean


def coarse(file):
    pixels = np.array(read_png(file.read_bytes()).pixels, "f8")
    height, width = (size - size % CELL for size in pixels.shape[:2])
    return pixels[:height, :width].reshape(height // CELL, CELL, width // CELL, CELL, 3).mean((1, 3))


def test_pictures_are_those_of_the_page(tmp_path):
    find_chromium()
    spec = importlib.util.spec_from_file_location("draw_page", DOCS / "tools" / "draw_page.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    tool.draw(tmp_path)
    for name in tool.LOCALES:
        taken, shown = coarse(tmp_path / name), coarse(DOCS / "pictures" / name)
        assert taken.shape == shown.shape
        differing = (np.abs(taken - shown).max(-1) > 64).mean()
        assert differing < 0.05, f"{name}: {differing:.0%} of it differ; run python docs/tools/draw_page.py"
    english, chinese = (coarse(DOCS / "pictures" / name) for name in tool.LOCALES)
    assert np.abs(english - chinese).max() > 0
