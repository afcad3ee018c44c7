"""Every page of docs/usage runs, and prints what it says it prints."""

import re
from pathlib import Path

import pytest
from pages import CODE, read_blocks, run_page
from thinc.api import Config

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(set((DOCS / "usage").glob("*.md")) - set((DOCS / "usage").glob("*.zh.md")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, tmp_path, monkeypatch):
    if not any(block.language in CODE for block in read_blocks(page)):
        pytest.skip("no code")
    (tmp_path / "configs").symlink_to(DOCS.parent / "configs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    run_page(page)


def test_the_config_parses():
    [block] = [block for block in read_blocks(DOCS / "usage" / "config.md") if block.language == "ini"]
    assert Config().from_str(block.body, interpolate=False)["components"]["lex_ner"]["factory"] == "lex_ner"


def test_the_index_has_every_page():
    linked = re.findall(r"\]\(usage/([\w-]+\.md)\)", (DOCS / "usage.md").read_text("utf8"))
    assert sorted(linked) == [page.name for page in PAGES]
