"""Every page of docs/usage runs, and prints what it says it prints."""

import re
from pathlib import Path

import pytest
from pages import run_page

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "usage").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, tmp_path, monkeypatch):
    (tmp_path / "configs").symlink_to(DOCS.parent / "configs")
    monkeypatch.chdir(tmp_path)
    run_page(page)


def test_the_index_has_every_page():
    linked = re.findall(r"\]\(usage/([\w-]+\.md)\)", (DOCS / "usage.md").read_text("utf8"))
    assert sorted(linked) == [page.name for page in PAGES]


@pytest.mark.parametrize("page", [DOCS / "usage.md", *PAGES], ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf8")):
        assert (page.parent / target).exists(), target
