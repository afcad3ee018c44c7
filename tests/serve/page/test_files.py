"""The files of the page, without a browser."""

import re

import pytest

QUOTED = re.compile(r'^  "([\w.-]+)": \["((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)"\],$', re.M)
MARKUP = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "srcdoc")


@pytest.fixture(scope="session")
def sources(page_folder):
    return {path.name: path.read_text("utf8") for path in page_folder.iterdir() if path.is_file()}


@pytest.fixture(scope="session")
def table(sources):
    text = sources["strings.js"]
    start, end = text.index("const TABLE = {"), text.index("\n};")
    rows = QUOTED.findall(text[start : end + 1])
    assert len(rows) == text[start:end].count('": [')
    return {key: (english, chinese) for key, english, chinese in rows}


def test_every_text_is_there_in_both_languages(table):
    for key, (english, chinese) in table.items():
        assert english, key
        assert chinese, key
        assert sorted(re.findall(r"\{\w+\}", english)) == sorted(re.findall(r"\{\w+\}", chinese)), key


def test_the_table_has_what_the_page_says_and_nothing_else(table, sources):
    others = [text for name, text in sources.items() if name != "strings.js"]
    rest = "\n".join([*others, sources["strings.js"].split("\n};")[1]])
    said = set(re.findall(r'data-t(?:-\w+)?="([^"]+)"', sources["index.html"]))
    assert said <= set(table)
    computed = (
        "mode.",
        "problem.",
        "change.",
        "conflict.",
        "theme.",
        "word.missing",
        "label.missing",
        "weight.missing",
    )
    unused = [key for key in table if f'"{key}"' not in rest and not key.startswith(computed)]
    assert unused == []


def test_nothing_becomes_markup(sources):
    for name, text in sources.items():
        assert [word for word in MARKUP if word in text] == [], name
    assert not re.search(r"<script(?! type=\"module\" src=)|\son\w+=|style=", sources["index.html"])


def test_nothing_is_loaded_from_elsewhere(sources):
    for name, text in sources.items():
        addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", text)) - {"http://www.w3.org/2000/svg"}
        assert addresses == set(), name


def test_addresses_are_relative(sources):
    # Behind a proxy the page may have a path prefix.
    assert not re.search(r'(?:src|href)="/', sources["index.html"])
    for name, text in sources.items():
        assert not re.search(r'(?:get|post|postForText|fetch)\(["`]/', text), name
