"""The colours of labels in pictures: displaCy's, and for any other label one derived from its name."""

import colorsys
from hashlib import blake2b

from spacy.displacy.render import DEFAULT_LABEL_COLORS

from ..pipeline.colors import COLORS

N_HUES = 24


def label_color(label: str) -> str:
    """RETURNS (str): The colour of a label, "#rrggbb", pale enough for black text and always the same."""
    known = COLORS.get(label) or DEFAULT_LABEL_COLORS.get(label.upper())
    if known is not None:
        return known
    hue = blake2b(label.encode("utf8", "replace"), digest_size=2).digest()[0] % N_HUES / N_HUES
    return _to_hex(*colorsys.hls_to_rgb(hue, 0.8, 0.7))


def line_color(color: str) -> str:
    """RETURNS (str): A colour of the same hue, "#rrggbb", that is visible on white and on black."""
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    return _to_hex(*colorsys.hls_to_rgb(hue, min(lightness, 0.58), min(saturation, 0.7)))


def _to_hex(red: float, green: float, blue: float) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in (red, green, blue))
