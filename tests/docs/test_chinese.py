"""Every page has a Chinese counterpart with the same structure and code, which the site shows and finds."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CODE = re.compile(r"^```.*?^```$", re.S | re.M)
# Studies stay in English: figures, commands and names of runs. Their index says so.
ENGLISH_ALONE = {str(page.relative_to(DOCS)) for page in (DOCS / "experiments").glob("*.md")} - {"experiments/index.md"}


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, ignoring its tags of Python objects."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, tag, node: None)
CONFIG = yaml.load((ROOT / "mkdocs.yml").read_text("utf8"), Loader)


def nav_entries(part):
    """YIELDS (Tuple[Optional[str], Optional[str]]): The title and the page of every entry, if it has one."""
    if isinstance(part, str):
        yield None, part
    elif isinstance(part, list):
        for entry in part:
            yield from nav_entries(entry)
    else:
        for title, inner in part.items():
            if isinstance(inner, str):
                yield title, inner
            else:
                yield title, None
                yield from nav_entries(inner)


PAGES = sorted({page for _, page in nav_entries(CONFIG["nav"]) if page} - ENGLISH_ALONE)
PAIRS = [(DOCS / page, DOCS / page.replace(".md", ".zh.md")) for page in PAGES]
README = (ROOT / "README.md", ROOT / "README.zh.md")


def load_tool(name="chinese"):
    spec = importlib.util.spec_from_file_location(name, DOCS / "tools" / f"{name}.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def levels(text):
    return [len(marks) for marks in re.findall(r"^(#+) ", CODE.sub("", text), re.M)]


def rows(text):
    """RETURNS (List[List[str]]): What is in backquotes in each row of the tables."""
    return [sorted(re.findall(r"`[^`]+`", row)) for row in re.findall(r"^\|.*\|$", CODE.sub("", text), re.M)]


def test_every_page_has_a_chinese_one_and_no_other():
    assert {chinese for _, chinese in PAIRS} == set(DOCS.rglob("*.zh.md"))


@pytest.mark.parametrize("pair", [README, *PAIRS], ids=lambda pair: str(pair[0].relative_to(ROOT)))
def test_headings_tables_and_code_are_those_of_the_english_page(pair):
    english, chinese = (page.read_text("utf8") for page in pair)
    if pair is not README:
        assert not CODE.findall(chinese), "code stands in the English page; [代码](page.md) takes it"
        chinese = load_tool().complete(chinese, pair[1])
        english, chinese = (load_tool("notebook").fill(text, pair[0].parent) for text in (english, chinese))
    assert levels(chinese) == levels(english)
    assert CODE.findall(chinese) == CODE.findall(english)
    assert rows(chinese) == rows(english)
    assert re.search("[一-鿿]", chinese)


def test_a_missing_place_for_code_is_an_error(tmp_path):
    (tmp_path / "page.md").write_text("```python\n1\n```\n\n```python\n2\n```\n", "utf8")
    with pytest.raises(ValueError, match=r"1 code placeholders, but page\.md has 2 code blocks"):
        load_tool().complete("[代码](page.md)", tmp_path / "page.zh.md")


def test_a_missing_place_for_a_cell_is_an_error():
    with pytest.raises(ValueError, match=r"placeholders for \['tour.ipynb'\], but tour\.ipynb has \d+ code cells"):
        load_tool("notebook").fill("[代码](tour.ipynb)", DOCS / "usage")


def test_first_screens_lead_to_the_other_language():
    for page, other in zip(README, reversed(README)):
        assert f"]({other.name})" in page.read_text("utf8").partition("```")[0]


@pytest.mark.parametrize("pair", [README, *PAIRS], ids=lambda pair: str(pair[0].relative_to(ROOT)))
def test_links_stay_in_chinese(pair):
    """As GitHub shows the pages: the site would find the Chinese page by the English name too."""
    text = pair[1].read_text("utf8").replace(f"]({pair[0].name})", "")  # links, and code placeholders
    for target in re.findall(r"\]\(([^)#:\s]+\.md)(?:#[^)]*)?\)", text):
        english = target if target.endswith(".zh.md") else target.replace(".md", ".zh.md")
        assert target.endswith(".zh.md") or not (pair[1].parent / english).exists(), target


def test_every_title_in_the_menu_is_translated():
    [translations] = [
        language["nav_translations"]
        for plugin in CONFIG["plugins"]
        for language in (plugin["i18n"]["languages"] if isinstance(plugin, dict) and "i18n" in plugin else [])
        if language["locale"] == "zh"
    ]
    titles = {title for title, _ in nav_entries(CONFIG["nav"]) if title}
    assert set(translations) == titles - {"FLAT", "LEBERT", "ELMo", "ERNIE", "API", "Python"}
