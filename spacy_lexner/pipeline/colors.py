"""Colours of entity labels in displaCy. Labels of the same kind share the colour that spaCy gives one of them; Weibo's
nominal mentions (.NOM) are paler than its named ones (.NAM)."""

from typing import Dict

PERSON, ORGANIZATION, LOCATION, GEOPOLITICAL = "#aa9cfc", "#7aecec", "#ff9561", "#feca74"
GROUP, WORK, POSITION, EDUCATION = "#c887fb", "#f0d0ff", "#ffeb80", "#bfeeb7"

COLORS: Dict[str, str] = {
    # MSRA, and most others
    "PER": PERSON,
    "ORG": ORGANIZATION,
    "LOC": LOCATION,
    "GPE": GEOPOLITICAL,
    # Weibo
    "PER.NAM": PERSON,
    "PER.NOM": "#ddd7fe",
    "ORG.NAM": ORGANIZATION,
    "ORG.NOM": "#ccf7f7",
    "LOC.NAM": LOCATION,
    "LOC.NOM": "#ffd5c0",
    "GPE.NAM": GEOPOLITICAL,
    "GPE.NOM": "#feeac7",
    # Resume
    "NAME": PERSON,
    "CONT": GEOPOLITICAL,
    "RACE": GROUP,
    "TITLE": POSITION,
    "PRO": POSITION,
    "EDU": EDUCATION,
    # CLUENER
    "name": PERSON,
    "company": ORGANIZATION,
    "organization": ORGANIZATION,
    "government": GEOPOLITICAL,
    "address": LOCATION,
    "scene": LOCATION,
    "position": POSITION,
    "book": WORK,
    "game": WORK,
    "movie": WORK,
}
