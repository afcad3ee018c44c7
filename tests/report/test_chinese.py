"""The Chinese page says everything that the English one does."""

import re
from html import unescape
from pathlib import Path
from string import Formatter

import pytest
import spacy

import spacy_lexner
from spacy_lexner.report.chinese import CHINESE
from spacy_lexner.report.measure import Settings
from spacy_lexner.report.page import make_page
from spacy_lexner.report.report import make_report

TEMPLATES = Path(spacy_lexner.__file__).parent / "templates"


@pytest.fixture
def report(nlp, gold):
    models = [("first", nlp), ("second", spacy.blank("zh"))]
    return make_report(models, gold, Settings(seen={"王明"}, n_samples=20), lexicon_off=True)


def test_the_page_has_the_same_elements_and_no_english_words(report):
    pages = {language: make_page(report, title="报告", language=language) for language in ("en", "zh")}
    english, chinese = (re.findall(r"<(/?\w+)", page) for page in pages.values())
    assert chinese == english
    shown = unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", pages["zh"], flags=re.S))
    names = {"GPE", "ORG", "PER", "first", "second", "ent", "lex_score", "without", "words"}  # and --without-words
    assert set(re.findall("[A-Za-z_]{2,}", shown)) == names


def test_every_text_of_the_templates_is_translated():
    used = {text for name in ("report.html", "charts") for text in texts(name)}
    assert used and used <= set(CHINESE)


def test_placeholders_are_those_of_the_english_text():
    for english, chinese in CHINESE.items():
        assert fields(chinese) == fields(english)


def test_another_language_is_an_error(report):
    with pytest.raises(ValueError, match="language of the report is 'fr'; expected one of en, zh"):
        make_page(report, language="fr")


def texts(name):
    return re.findall(r'\bt\("([^"]+)"\)', (TEMPLATES / f"{name}.jinja").read_text("utf8"))


def fields(text):
    return sorted((name, spec) for _, name, spec, _ in Formatter().parse(text) if name)
