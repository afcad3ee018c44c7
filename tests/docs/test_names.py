"""docs/names.md lists every registered name and no other; docs/api describes them all."""

import re
from importlib import import_module, metadata
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "names.md").read_text("utf8")
DESCRIBED = [
    name for page in (DOCS / "api").glob("*.md") for name in re.findall(r"^::: (\S+)", page.read_text("utf8"), re.M)
]


def registered_names():
    points = metadata.distribution("spacy-lexner").entry_points
    factories = {point.name for point in points if point.group == "spacy_factories"}
    return factories, {point.name for point in points if point.name.startswith("spacy-lexner.")}


def test_every_registered_name_is_listed_and_no_other():
    factories, names = registered_names()
    assert set(re.findall(r"`(spacy-lexner\.[\w.]+)`", PAGE)) == names
    assert {name for name in factories if f"`{name}`" not in PAGE} == set()


def test_every_registered_name_is_described():
    factories, names = registered_names()
    assert {name for name in DESCRIBED if not name.startswith("spacy_lexner.")} == {*factories, *names, "spacy"}


@pytest.mark.parametrize("name", [name for name in DESCRIBED if name.startswith("spacy_lexner.")])
def test_what_is_described_exists(name):
    module, _, attribute = name.rpartition(".")
    assert getattr(import_module(module), attribute).__doc__
