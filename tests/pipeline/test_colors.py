import colorsys
import re

import pytest
import spacy
from spacy import displacy
from spacy.displacy.render import DEFAULT_LABEL_COLORS, EntityRenderer
from spacy.tokens import Span

from spacy_lexner.pipeline.colors import COLORS

LABELS = {
    "msra": ["PER", "LOC", "ORG"],
    "weibo": [f"{label}.{kind}" for label in ("PER", "ORG", "LOC", "GPE") for kind in ("NAM", "NOM")],
    "resume": ["NAME", "CONT", "RACE", "TITLE", "EDU", "ORG", "PRO", "LOC"],
    "cluener": "address book company game government movie name organization position scene".split(),  # noqa: SIM905
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_every_label_has_a_color(labels):
    assert set(labels) <= set(COLORS)


def test_colors_of_spacy_stay():
    assert {label: COLORS[label] for label in COLORS if label in DEFAULT_LABEL_COLORS} == {
        label: color for label, color in DEFAULT_LABEL_COLORS.items() if label in COLORS
    }


def test_black_text_is_readable():
    """Contrast of at least 7 to 1 with black (WCAG AAA)."""
    for color in COLORS.values():
        assert re.fullmatch("#[0-9a-f]{6}", color)
        red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
        assert (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05) / 0.05 >= 7
        assert colorsys.rgb_to_hsv(red, green, blue)[1] > 0.08


def test_colors_reach_displacy():
    # displaCy asks for colours by the label in capitals.
    assert {label.upper() for label in COLORS} <= set(EntityRenderer().colors)
    doc = spacy.blank("zh")("张三")
    doc.ents = [Span(doc, 0, 2, label="PER.NAM")]
    doc.spans["sc"] = [Span(doc, 0, 2, label="PER.NAM"), Span(doc, 1, 2, label="ORG.NOM")]
    assert COLORS["PER.NAM"] in displacy.render(doc, style="ent")
    page = displacy.render(doc, style="span")
    assert COLORS["PER.NAM"] in page and COLORS["ORG.NOM"] in page
