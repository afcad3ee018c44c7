"""The built site works from disk: links lead to its files, nothing is fetched, and the search finds Chinese words."""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from headless import browser  # noqa: F401 (fixture)

pytest.importorskip("mkdocs_static_i18n")
ROOT = Path(__file__).parents[2]


class Links(HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self, page):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(page.read_text("utf8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values.get("id"), values.get("name")}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in ("script", "img", "iframe", "source") and values.get("src"):
            self.loaded.append(values["src"])
        if tag == "link" and values.get("href") and values.get("rel") != "canonical":
            self.loaded.append(values["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """RETURNS (Dict[Path, Links]): Every page of the site, built as CI builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {page: Links(page) for page in folder.rglob("*.html") if page.name != "404.html"}  # only a server shows 404
    return folder, pages


@pytest.mark.timeout(900)
def test_links_lead_to_files(site):
    _, pages = site
    broken = []
    for page, content in pages.items():
        for link in [*content.links, *content.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchor = unquote(parts.fragment)
            known = target.is_file() and (not anchor or target not in pages or anchor in pages[target].anchors)
            if not known and not (anchor.startswith("__") and target.is_file()):  # the theme's own
                broken.append((page.name, link))
    assert broken == []


def test_blocks_of_code_are_shown_as_such(site):
    _, pages = site
    assert [page.name for page in pages if "```" in page.read_text("utf8")] == []


def test_nothing_is_fetched(site):
    _, pages = site
    assert {link for content in pages.values() for link in content.loaded if urlsplit(link).netloc} == set()


def test_both_languages_are_built_and_link_to_one_another(site):
    folder, pages = site
    for page in pages:
        chinese = page.relative_to(folder).parts[0] == "zh"
        other = folder / page.relative_to(folder / "zh") if chinese else folder / "zh" / page.relative_to(folder)
        if page.parent.name != "pictures":
            assert other in pages
            language = re.search(r'<html lang="(\w+)"', page.read_text("utf8"))[1]
            assert language == ("zh" if chinese else "en")
            relative = os.path.relpath(other, page.parent)
            assert relative in pages[page].links, "the language switch"


def test_the_index_is_cut_into_chinese_words(site):
    folder, _ = site
    index = json.loads((folder / "search" / "search_index.json").read_text("utf8"))
    assert {"en", "zh"} <= set(index["config"]["lang"])
    words = re.compile(index["config"]["separator"])
    [page] = [part for part in index["docs"] if part["location"] == "zh/usage/dictionary.html"]
    assert {"使用", "自己", "词典"} <= set(words.split(page["title"]))
    assert {"模型", "训练", "规则"} <= set(words.split(page["text"]))
    script = (folder / "search" / "search_index.js").read_text("utf8")
    assert script == "var __index = " + (folder / "search" / "search_index.json").read_text("utf8"), "found from disk"


@pytest.mark.parametrize("query, page", [("词典", "usage/dictionary.html"), ("校准", "usage/report.html")])
def test_the_search_finds_chinese_words_from_disk(site, browser, query, page):  # noqa: F811
    folder, _ = site
    shown = browser.dom(folder / "zh" / "index.html", query=f"?q={query}", budget=20000)
    results = re.findall(r'<a href="([^"]+)" class="md-search-result__link"', shown)
    assert any(f"/zh/{page}" in result for result in results), results
