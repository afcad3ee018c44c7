"""Links between pages are valid, and the pages to read first stay short."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "project" / "README.md"])


def anchors(page):
    """RETURNS (Set[str]): The anchors of a page's headings, as GitHub and mkdocs make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf8"), flags=re.S | re.M)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", page.read_text("utf8")):
        file = (page.parent / target) if target else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


@pytest.mark.parametrize("name", ["README.md", "docs/results.md"])
def test_first_pages_are_short(name):
    assert len((ROOT / name).read_text("utf8").splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_named_exist(page):
    if "experiments" not in page.parts and page.parent.name != "project":  # old commits; paths from project/
        named = re.findall(
            r"`((?:spacy_lexner|configs|docs|tests|benchmarks|project/scripts)/[\w./-]+)`", page.read_text("utf8")
        )
        assert [name for name in named if not re.search("NAME|toy", name) and not (ROOT / name).exists()] == []
