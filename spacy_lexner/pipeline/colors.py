"""Colours of entity labels in displaCy: one hue for each kind of thing, light enough for black text.

Weibo marks named (.NAM) and nominal (.NOM) mentions: these are a strong and a pale shade of the same hue.
"""

from typing import Dict

# Kind of thing: strong and pale shade.
_SHADES = {
    "person": ("#ffb3a7", "#ffe1dc"),
    "organization": ("#9fc9f3", "#dcebfb"),
    "location": ("#a8dba0", "#e0f3dd"),
    "geopolitical": ("#8fd8c8", "#d8f2ec"),
    "position": ("#f4c98b", "#fbe8cd"),
    "group": ("#d3b6ec", "#eee3f8"),
    "work": ("#f2a9d0", "#fbe1ef"),
    "education": ("#c9d684", "#edf2d3"),
}
_LABELS = {
    "person": ("PER", "PERSON", "NAME", "name"),
    "organization": ("ORG", "COMPANY", "company", "organization"),
    "location": ("LOC", "address", "scene"),
    "geopolitical": ("GPE", "CONT", "government"),
    "position": ("TITLE", "PRO", "position"),
    "group": ("RACE", "NORP"),
    "work": ("book", "movie", "game"),
    "education": ("EDU",),
}

COLORS: Dict[str, str] = {}
for _kind, _names in _LABELS.items():
    _strong, _pale = _SHADES[_kind]
    COLORS.update(dict.fromkeys(_names, _strong))
    for _name in _names:
        if _name in ("PER", "ORG", "LOC", "GPE"):
            COLORS.update({f"{_name}.NAM": _strong, f"{_name}.NOM": _pale})
