import re

from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.pipeline.colors import COLORS
from spacy_lexner.visualize.label_colors import label_color, line_color


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_those_of_displacy():
    assert label_color("PER.NAM") == COLORS["PER.NAM"]
    assert label_color("PERSON") == label_color("person") == "#aa9cfc"


@given(st.text())
def test_any_label(label):
    color = label_color(label)
    assert color == label_color(label) and re.fullmatch("#[0-9a-f]{6}", color)
    assert (luminance(color) + 0.05) / 0.05 > 7, "black text is readable"
    assert re.fullmatch("#[0-9a-f]{6}", line_color(color))


def test_lines_are_seen_on_light_and_dark():
    for color in COLORS.values():
        line = luminance(line_color(color))
        assert 1.05 / (line + 0.05) > 1.3 and (line + 0.05) / (luminance("#15181d") + 0.05) > 2.5
