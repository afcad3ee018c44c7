"""docs/architecture.md: its picture is up to date in both languages, and the files it names exist."""

import importlib.util
import re
from pathlib import Path

import pytest
import srsly

import spacy_lexner

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "architecture.md"


@pytest.mark.parametrize("name", ["doc-path", "doc-path.zh"])
def test_the_picture_is_drawn_from_its_source(name):
    spec = importlib.util.spec_from_file_location("draw_path", DOCS / "tools" / "draw_path.py")
    draw_path = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw_path)
    drawn = draw_path.draw(srsly.read_yaml(DOCS / "pictures" / f"{name}.yml"))
    assert drawn == (DOCS / "pictures" / f"{name}.svg").read_text("utf8")


def test_what_the_page_and_the_picture_name_exists():
    package = Path(spacy_lexner.__file__).parent
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", PAGE.read_text("utf8")))
    rooms = " ".join(station["room"] for station in srsly.read_yaml(DOCS / "pictures" / "doc-path.yml")["stations"])
    named |= {room.replace("{flat,lebert,ernie,elmo}/", "") for room in re.split(r",? ", rooms)}
    named -= {"spacy_lexner/encoders/toy/"}
    missing = {name for name in named if not (package / name).exists() and not (package.parent / name).exists()}
    assert missing == set()
