import xml.etree.ElementTree as ElementTree

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.visualize.label_colors import label_color, line_color
from spacy_lexner.visualize.lattice import Lattice, Mark, Track, Word, read_lattice
from spacy_lexner.visualize.svg import STYLES, draw_svg

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg, kind):
    return [e.text for e in ElementTree.fromstring(svg).iter(f"{SVG}text") if e.get("class") == f"lx-{kind}"]


def test_what_is_drawn(doc, lexicon):
    svg = draw_svg(read_lattice(doc, lexicon))
    assert texts(svg, "text") == ["南京市长江大桥"]
    assert texts(svg, "label") == ["GPE 0.88", "LOC"]
    assert sorted(texts(svg, "word")) == sorted(["南京", "市长", "大桥", "长江", "南京市", "长江大桥"])
    bars = [e for e in ElementTree.fromstring(svg).iter(f"{SVG}rect") if e.get("class") == "lx-bar"]
    assert [bar.get("stroke") is not None for bar in bars] == [True, True, False, False, False, False]


def test_arcs(doc, lexicon):
    svg = draw_svg(read_lattice(doc, lexicon), style="arcs")
    arcs = list(ElementTree.fromstring(svg).iter(f"{SVG}path"))
    assert len(arcs) == 6 and texts(svg, "word") == []
    titles = [arc.find(f"{SVG}title").text for arc in arcs]
    assert titles[:2] == ["长江大桥 · weight 6, n", "南京市 · weight 3, n"], "long ones after short ones"


def test_named_tracks():
    marks = [Mark(0, 2, "PER", 0.5)]
    svg = draw_svg(Lattice("王明在", [], [Track("gold", marks), Track("model", [])]))
    assert texts(svg, "name") == ["gold", "model"]
    assert "lx-glow" not in svg.split("</style>")[1], "whose entities would it be?"


def test_themes_and_style_sheets():
    lattice = Lattice("南京", [], [])
    assert '<svg xmlns="http://www.w3.org/2000/svg" class="lx lx-dark"' in draw_svg(lattice, theme="dark")
    assert "prefers-color-scheme: dark" in draw_svg(lattice)
    assert "<style>" not in draw_svg(lattice, with_css=False)


@pytest.mark.parametrize("name, value", [("style", "pie"), ("theme", "blue"), ("width", 100)])
def test_errors(name, value):
    with pytest.raises(ValueError, match=f"{name} is {value!r}; expected"):
        draw_svg(Lattice("南京", [], []), **{name: value})


def test_nothing_is_markup():
    evil = "</text><script>alert(1)</script>&\"'"
    lattice = Lattice(evil, [Word(0, 7, note=evil)], [Track(evil, [Mark(8, 16, evil, note=evil)])])
    for style in STYLES:
        svg = draw_svg(lattice, style=style)
        assert "<script" not in svg
        names = {element.tag for element in ElementTree.fromstring(svg).iter()}
        assert names <= {SVG + name for name in ("svg", "style", "title", "rect", "g", "text", "path")}
    assert "".join(texts(draw_svg(lattice), "text")) == evil


@given(
    st.text(st.characters(exclude_categories=[]), max_size=60),
    st.text(st.characters(exclude_categories=[]), max_size=9),
    st.sampled_from(STYLES),
)
def test_any_text_is_well_formed(text, label, style):
    words = [Word(i, j, note=label) for i in range(len(text)) for j in range(i + 1, min(i + 3, len(text)) + 1)]
    tracks = [Track(label, [Mark(0, len(text), label, 0.5)])]
    ElementTree.fromstring(draw_svg(Lattice(text, words, tracks), style=style, width=300))


def test_long_names_of_tracks_leave_room_for_the_text():
    tracks = [Track("名" * 40, [Mark(0, 3, "GPE", 0.9)]), Track("model", [])]
    svg = draw_svg(Lattice("南京市长江大桥", [Word(0, 3)], tracks), width=200)
    assert "".join(texts(svg, "text")) == "南京市长江大桥"


def test_marks_at_one_place_with_and_without_a_score():
    svg = draw_svg(Lattice("南京市", [], [Track("", [Mark(0, 3, "GPE", 0.9), Mark(0, 3, "GPE")])]))
    assert texts(svg, "label") == ["GPE 0.90", "GPE"]


def test_a_very_long_text():
    text = "南京市长江大桥" * 600
    words = [Word(i, i + 3) for i in range(0, len(text) - 3)]
    svg = draw_svg(Lattice(text, words, [Track("", [Mark(i, i + 2, "LOC") for i in range(0, len(text), 7)])]))
    assert svg.count('class="lx-text"') > 100


def test_labels_of_words_are_stripes_and_in_the_tooltip():
    lexicon = Lexicon.from_entries([LexiconEntry("小米", labels=("BRAND", "<FOOD>")), LexiconEntry("手机")])
    lattice = read_lattice(spacy.blank("zh")("小米手机"), lexicon)
    assert [word.labels for word in lattice.words] == [("BRAND", "<FOOD>"), ()]
    elements = list(ElementTree.fromstring(draw_svg(lattice)).iter())
    stripes = [e for e in elements if e.get("class") == "lx-stripe"]
    assert [e.get("fill") for e in stripes] == [line_color(label_color(label)) for label in ("BRAND", "<FOOD>")]
    (bar,) = [e for e in elements if e.get("class") == "lx-bar" and float(e.get("x")) < float(stripes[0].get("x"))]
    right = float(stripes[1].get("x")) + float(stripes[1].get("width"))
    assert float(bar.get("x")) < right < float(bar.get("x")) + float(bar.get("width"))
    assert any("BRAND, <FOOD>" in (e.text or "") for e in elements)
    assert "lx-stripe" not in draw_svg(lattice, style="arcs")
