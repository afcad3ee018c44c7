import unicodedata
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_lexner.visualize.graphemes import NARROW, WIDE, clean, split_graphemes, text_width


def shown(text):
    return [(text[g.start : g.end], g.shown, g.width) for g in split_graphemes(text)]


def test_widths():
    assert shown("南a“Ａ①") == [
        ("南", "南", WIDE),
        ("a", "a", NARROW),
        ("“", "“", WIDE),
        ("Ａ", "Ａ", WIDE),
        ("①", "①", WIDE),
    ]
    assert text_width("南京 PER") == 8


@pytest.mark.parametrize("cluster", ["👨‍👩‍👧", "🇨🇳", "❤️", "👍🏽", "𠮷", "e\u0301", "葛\U000e0101"])
def test_what_belongs_together(cluster):
    [grapheme] = split_graphemes(cluster)
    assert grapheme.shown == cluster and grapheme.visible
    assert grapheme.width == (NARROW if cluster[0] == "e" else WIDE)


@pytest.mark.parametrize(
    "text, sign",
    [(" ", "␣"), ("\u3000", "␣"), ("\t", "⇥"), ("\n", "⏎"), ("\r\n", "⏎"), ("\u2028", "⏎"), ("\0", "␀"), ("\x7f", "␡")]
    + [(text, "·") for text in ("\u200b", "\u202e", "\ufeff", "\ud800", "\x80")],
)
def test_the_invisible_has_a_sign(text, sign):
    [grapheme] = split_graphemes(text)
    assert (grapheme.shown, grapheme.visible, grapheme.new_line) == (sign, False, sign == "⏎")


def test_a_mark_without_a_letter():
    assert shown("\u0301") == [("\u0301", "\u25cc\u0301", NARROW)]
    assert shown(" \u0301") == [(" \u0301", "␣\u0301", NARROW)]


@given(st.text(st.characters(exclude_categories=[])))
@example(" \u0300")
def test_everything_is_there_and_is_xml(text):
    graphemes = list(split_graphemes(text))
    assert "".join(text[g.start : g.end] for g in graphemes) == text
    for grapheme in graphemes:
        assert ElementTree.fromstring(f"<a>{clean(grapheme.shown).translate({38: None, 60: None})}</a>") is not None
        assert grapheme.shown == clean(grapheme.shown) and not grapheme.shown[0].isspace()
        assert unicodedata.category(grapheme.shown[0]) not in ("Cc", "Cs")
