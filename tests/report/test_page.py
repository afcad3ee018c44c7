import json
import re
from html import unescape
from html.parser import HTMLParser

import pytest
import spacy

from spacy_lexner.report.gold import GoldText
from spacy_lexner.report.measure import Settings
from spacy_lexner.report.page import make_page
from spacy_lexner.report.report import make_report
from spacy_lexner.visualize.lattice import Mark

EVIL = "<script>alert('x')</script>&\"\0"
VOID = {"meta", "br", "line", "circle", "rect"}


class Checker(HTMLParser):
    """Collects elements, and checks that each is closed where it should be."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def parse(page):
    checker = Checker()
    checker.feed(page)
    assert not checker.open
    return checker


@pytest.fixture
def page(nlp, gold):
    settings = Settings(seen={"王明"}, n_samples=20)
    return make_page(make_report([("ours", nlp), ("peer", spacy.blank("zh"))], gold, settings, lexicon_off=True))


def test_sections(page):
    checker = parse(page)
    text = " ".join(" ".join(checker.text).split())
    for part in ("6 texts, 25 characters, 6 entities", "Seen and unseen", "compared with ours", "lexicon emptied"):
        assert part in text
    assert "Expected calibration error" in text and "The model gives no scores" in text
    assert "boundary: GPE 南京市 → GPE 南京 · missed: PER 李雷 → –" in text
    assert checker.seen.count("details") == 3 and checker.seen.count("svg") == 1 + 2 * 2 + 4 + 4 + 4


def test_needs_nothing_else(page):
    assert not re.search(r'(src|href)="(?!#)', page) and "@import" not in page and "url(" not in page
    assert "<script" not in page


def test_one_model_without_training(nlp, gold):
    text = " ".join(parse(make_page(make_report([("ours", nlp)], gold, Settings(n_samples=5)))).text)
    assert "compared with" not in text and "Seen and unseen" not in text


def test_nothing_is_markup(nlp):
    gold = [GoldText(EVIL, [Mark(0, 3, EVIL), Mark(9, 12, "PER")], [])]
    nlp.get_pipe("entity_ruler").add_patterns([{"label": EVIL, "pattern": "alert"}])
    page = make_page(make_report([(EVIL, nlp)], gold, Settings(n_samples=5)), title=EVIL)
    assert "script" not in parse(page).seen and "\0" not in page


def test_texts_that_failed(nlp, gold):
    nlp.max_length = 5
    text = " ".join(parse(make_page(make_report([("ours", nlp)], gold, Settings(n_samples=5)))).text)
    assert "1 texts could not be processed" in " ".join(text.split()) and "[E088]" in text


def test_in_a_browser(page, browser, measure, tmp_path):
    (tmp_path / "page.html").write_text(measure(page.replace("<details>", "<details open>")), "utf8")
    dom = browser.dom(tmp_path / "page.html")
    pictures = json.loads(unescape(re.search("<title>(.*?)</title>", dom, re.DOTALL)[1]))
    assert len(pictures) == 1 + 2 * 2 + 4 + 4 + 4
    for picture in pictures:
        left, top, right, bottom = picture["box"]
        for text, _, x0, y0, x1, y1 in picture["texts"]:
            assert x1 > x0 and y1 > y0, f"{text} is not drawn"
            assert left <= x0 and x1 <= right + 2 and top <= y0 + 2 and y1 <= bottom + 2, f"{text} leaves the picture"


@pytest.mark.parametrize("dark", [False, True])
def test_on_the_screen(page, browser, tmp_path, dark):
    (tmp_path / "page.html").write_text(page, "utf8")
    image = browser.screenshot(tmp_path / "page.html", dark=dark, size="900,700")
    assert (image.width, image.height) == (900, 700)
    paper = (0x15, 0x18, 0x1D) if dark else (255, 255, 255)
    colors = [pixel for row in image.pixels for pixel in row]
    assert image.pixels[2][2] == paper and 0.01 < sum(color != paper for color in colors) / len(colors) < 0.4


def test_text_is_read_off_the_screen(page, browser, tmp_path):
    (tmp_path / "page.html").write_text(page, "utf8")
    found = browser.read(tmp_path / "page.html", size="600,190")
    assert "Report" in found and "6texts" in found and "25characters" in found
