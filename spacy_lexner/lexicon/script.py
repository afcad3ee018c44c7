"""Tables that map characters of one script to those of another, one to one, made from OpenCC's."""

from functools import cache
from typing import Dict

from .errors import LexiconError

SCRIPTS = ("simplified",)
IDEOGRAPHS = (*range(0x2E80, 0xA000), *range(0xF900, 0xFB00), *range(0x20000, 0x32000))
NEEDS_OPENCC = (
    "script = {!r} is made from OpenCC's tables, but the package `opencc` is not installed. To build with it: "
    'pip install "spacy-lexner[zh]". A lexicon or model that was saved with a script opens without the package.'
)


@cache
def read_table(script: str) -> str:
    """Make the table of a script: each character that changes, followed by what it becomes. No character is both, so
    that mapping twice is mapping once. Raises LexiconError for an unknown script, or without the package `opencc`.

    What OpenCC's `t2s` leaves as it is goes through `hk2s`, which knows variants of Hong Kong (衞, 粧). The table of
    Taiwan is left out: it would also merge what simplified text tells apart (著 and 着, 么 and 幺).
    """
    if script not in SCRIPTS:
        raise LexiconError(f"The script is {script!r}; expected one of {', '.join(SCRIPTS)}, or none.")
    try:
        from opencc import OpenCC
    except ImportError as error:
        raise LexiconError(NEEDS_OPENCC.format(script)) from error
    characters = [*map(chr, IDEOGRAPHS)]
    text = "\n".join(characters)  # a line each: OpenCC also converts phrases
    direct, variants = (OpenCC(name).convert(text).split("\n") for name in ("t2s", "hk2s"))
    table = {
        character: own if own != character else variant
        for character, own, variant in zip(characters, direct, variants, strict=True)
    }
    changes = {character: _follow(character, table) for character in characters}
    return "".join(a + b for a, b in changes.items() if a != b)


def _follow(character: str, table: Dict[str, str]) -> str:
    """What a character becomes in the end: 薴 is simplified to 苧, and 苧 to 苎. One that would become several
    characters stays as it is."""
    seen = {character}
    while len(following := table.get(character, character)) == 1 and following not in seen:
        seen.add(character := following)
    return character
