import json
import re
from html import unescape

import pytest
import spacy

from spacy_lexner.lexicon import Lexicon
from spacy_lexner.visualize import Lattice, Mark, Picture, Track, Word, draw_lattice, make_page, save_pictures

MANY = "中华人民共和国外交部发言人华春莹👨‍👩‍👧在例行记者会上说：“iPhone 15”。" * 4


def test_in_a_notebook(doc, lexicon):
    html = draw_lattice(doc, lexicon)._repr_html_()
    assert html.startswith("<div") and "<style>" in html and "南京市长江大桥" in html


def test_files(doc, lexicon, tmp_path):
    picture = draw_lattice(doc, lexicon, style="arcs")
    picture.save(tmp_path / "new" / "picture.svg")
    assert (tmp_path / "new" / "picture.svg").read_text("utf8").startswith("<svg ")
    save_pictures([picture, picture], tmp_path / "page.html", title="<Two>")
    page = (tmp_path / "page.html").read_text("utf8")
    assert page.count("<svg ") == 2 and page.count("<style>") == 1 and "<title>&lt;Two&gt;</title>" in page


def test_several_pictures_as_svg(doc, tmp_path):
    written = save_pictures([draw_lattice(doc)] * 10, tmp_path / "new" / "a.svg")
    assert [path.name for path in written] == [f"a-{i:02}.svg" for i in range(1, 11)]
    assert sorted(tmp_path.rglob("*.svg")) == written and written[9].read_text("utf8").startswith("<svg ")


def test_files_that_cannot_be(doc, tmp_path):
    with pytest.raises(ValueError, match=r"expected \.svg or \.html"):
        draw_lattice(doc).save(tmp_path / "picture.png")
    with pytest.raises(ValueError, match="no pictures to write"):
        save_pictures([], tmp_path / "picture.svg")
    assert not list(tmp_path.iterdir())


def test_captions_and_no_pictures(doc):
    assert "<figcaption>a &lt; b</figcaption>" in make_page([draw_lattice(doc)._replace(caption="a < b")])
    assert "<svg" not in make_page([])


@pytest.fixture
def page(doc, lexicon):
    """A short text, a long one with many overlapping words, entities of two sources, and hostile text."""
    long = spacy.blank("zh")(MANY)
    words = {MANY[i : i + n] for i in range(len(MANY) // 4) for n in range(2, 9)}
    dense = Lexicon.from_entries([]).with_words(word for word in words if not any(map(str.isspace, word)))
    tracks = [Track("gold", [Mark(0, 2, "PER"), Mark(1, 3, "LONG-LABEL")]), Track("model", [Mark(0, 3, "PER", 0.3)])]
    evil = "<b>&amp;</b><script>document.body.remove()</script>"
    return [
        draw_lattice(doc, lexicon),
        draw_lattice(long, dense),
        draw_lattice(long, dense, style="arcs"),
        Picture(Lattice("王小明", [Word(0, 3, 0.9)], tracks)),
        Picture(Lattice(evil, [], [Track("", [Mark(0, 3, evil)])])),
    ]


def test_in_a_browser(page, browser, measure, tmp_path):
    (tmp_path / "page.html").write_text(measure(make_page(page)), "utf8")
    dom = browser.dom(tmp_path / "page.html")
    pictures = json.loads(unescape(re.search("<title>(.*?)</title>", dom, re.DOTALL)[1]))
    assert len(pictures) == 5
    assert (
        "".join(text for text, kind, *_ in pictures[4]["texts"] if kind == "lx-text")
        == "<b>&amp;</b><script>document.body.remove()</script>"
    )
    for picture in pictures:
        left, top, right, bottom = picture["box"]
        assert right - left <= 960 and bottom > top
        for text, _kind, x0, y0, x1, y1 in picture["texts"]:
            assert x1 > x0 and y1 > y0, f"{text} is not drawn"
            assert left <= x0 and x1 <= right + 2 and top <= y0 + 2 and y1 <= bottom + 2, f"{text} leaves the picture"
        for kind in ("lx-label", "lx-word"):
            boxes = [box for _, of, *box in picture["texts"] if of == kind]
            assert not [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if overlap(a, b)], f"{kind} overlap"


def overlap(a, b):
    return min(a[2], b[2]) - max(a[0], b[0]) > 2 and min(a[3], b[3]) - max(a[1], b[1]) > 6


def test_screenshots(page, browser, tmp_path):
    save_pictures(page, tmp_path / "page.html")
    light, dark = (browser.screenshot(tmp_path / "page.html", dark=dark) for dark in (False, True))
    assert (light.width, light.height) == (dark.width, dark.height) == (420, 300)
    for image, paper in ((light, (255, 255, 255)), (dark, (0x15, 0x18, 0x1D))):
        colors = [pixel for row in image.pixels for pixel in row]
        assert image.pixels[5][5] == paper
        inked = sum(color != paper for color in colors) / len(colors)
        assert 0.03 < inked < 0.6


@pytest.mark.parametrize("dark", [False, True])
def test_text_is_read_off_the_screen(page, browser, tmp_path, dark):
    page[0].save(tmp_path / "page.html")
    found = browser.read(tmp_path / "page.html", dark=dark, size="300,170")
    assert "南京市长江大桥" in found and "GPE" in found and "0.88" in found
