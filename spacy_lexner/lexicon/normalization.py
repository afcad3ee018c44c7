"""Normalisation of characters one to one, so that offsets in the normalised text are offsets in the original."""

import unicodedata
from functools import lru_cache
from typing import Any, Dict, NamedTuple, Optional

import numpy as np

from .errors import LexiconError
from .limits import quote

FULL_WIDTH = (*range(0xFF01, 0xFF61), *range(0xFFE0, 0xFFE7))
SCRIPTS = ("simplified",)
IDEOGRAPHS = (*range(0x2E80, 0xA000), *range(0xF900, 0xFB00), *range(0x20000, 0x32000))
NEEDS_OPENCC = (
    "script = {!r} is made from OpenCC's tables, but the package `opencc` is not installed. To build with it: "
    'pip install "spacy-lexner[zh]". A lexicon or model that was saved with a script opens without the package.'
)
# At the edges of words copied from web pages and spreadsheets: zero-width spaces and joiners, marks of direction, BOMs.
INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
EDGES = INVISIBLE + "".join(filter(str.isspace, map(chr, range(0x3001))))
END_OF_CASED = 0x1E944  # past Adlam: no later character has a lower-case form


class _Settings(NamedTuple):
    case: bool
    width: bool
    script: Optional[str]
    characters: str


class Normalization(_Settings):
    """How characters are mapped, one to one, before words and texts are compared.

    case (bool): Upper case to lower case, where the lower-case form is a single character.
    width (bool): Full-width forms (U+FF01-FF60, U+FFE0-FFE6, U+3000) to ordinary ones.
    script (Optional[str]): "simplified": traditional characters and variants to simplified ones. None: none.
    characters (Optional[str]): The table of the script, each character that changes followed by what it becomes. None:
        made from OpenCC's tables, which needs the package `opencc`. Lexicons and models are saved with the table, so
        they open without the package.
    """

    __slots__ = ()

    def __new__(
        cls, case: bool = False, width: bool = False, script: Optional[str] = None, characters: Optional[str] = None
    ) -> "Normalization":
        expected = (case, bool), (width, bool), (script, (str, type(None))), (characters, (str, type(None)))
        if not all(isinstance(value, kind) for value, kind in expected):
            raise LexiconError(
                f"The normalisation is {quote([value for value, _ in expected])}; expected case and width as true or "
                "false, the script and its characters as text or null."
            )
        if characters and (script is None or len(characters) % 2):
            raise LexiconError(
                f"The script {quote(script)} has a table of {len(characters)} characters; expected a script's name "
                "and pairs of characters."
            )
        if script is not None and not characters:
            characters = read_table(script)
        return super().__new__(cls, case, width, script, characters or "")

    def settings(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The arguments that make this normalisation again, as plain JSON."""
        settings: Dict[str, Any] = {"case": self.case, "width": self.width}
        if self.script is not None:
            settings.update(script=self.script, characters=self.characters)
        return settings

    def __repr__(self) -> str:
        return f"Normalization({self})"

    def __str__(self) -> str:
        """Describe what is normalised, without the table."""
        parts = [name for name in ("case", "width") if getattr(self, name)]
        parts += [f"{self.script} script ({len(self.characters) // 2} characters)"] if self.script else []
        return ", ".join(parts) or "nothing"

    def __call__(self, text: str) -> str:
        """The normalised text, of the same length. Lone surrogates are kept."""
        return text.translate(_changes(self)) if any(self) else text

    def word(self, word: str) -> str:
        """A word as a lexicon stores it: normalised, without white space and invisible characters at its edges."""
        return self(word.strip(EDGES))

    def codes(self, codes: np.ndarray) -> np.ndarray:
        """Normalised code points: uint32[n] to uint32[n]."""
        if not any(self):
            return codes
        table = _table(self)
        return np.where(codes < len(table), table.take(codes, mode="clip"), codes)


def to_codes(text: str) -> np.ndarray:
    """uint32[len(text)], the code points of a text, lone surrogates included."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


@lru_cache(maxsize=16)
def _changes(normalization: Normalization) -> Dict[int, str]:
    """The characters that change, by code point."""
    pairs = normalization.characters
    changes = dict(zip(map(ord, pairs[::2]), pairs[1::2]))
    if normalization.width:
        changes[0x3000] = " "
        changes.update({code: unicodedata.normalize("NFKC", chr(code)) for code in FULL_WIDTH})
    if normalization.case:
        upper = (code for code in range(END_OF_CASED) if not (char := chr(code)).islower() and char != char.lower())
        changes.update({code: chr(code).lower() for code in upper if code not in changes})
        changes = {code: char.lower() for code, char in changes.items()}
    return {code: char for code, char in changes.items() if len(char) == 1}


@lru_cache(maxsize=16)
def _table(normalization: Normalization) -> np.ndarray:
    changes = _changes(normalization)
    table = np.arange(max(END_OF_CASED, *changes) + 1, dtype="u4")
    for code, char in changes.items():
        table[code] = ord(char)
    return table


@lru_cache(maxsize=16)
def read_table(script: str) -> str:
    """Make the table of a script: each character that changes, followed by what it becomes. No character is both, so
    that mapping twice is mapping once. Raises LexiconError for an unknown script, or without the package `opencc`.

    Characters that OpenCC's `t2s` does not change go through `hk2s`, which knows Hong Kong variants (衞, 粧). The table
    for Taiwan is not used: it would also merge what simplified text tells apart (著 and 着, 么 and 幺).
    """
    if script not in SCRIPTS:
        raise LexiconError(f"The script is {quote(script)}; expected one of {', '.join(SCRIPTS)}, or none.")
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
    """Map a character until it no longer changes: 薴 is simplified to 苧, and 苧 to 苎. A character that would become
    several stays as it is."""
    seen = {character}
    while len(following := table.get(character, character)) == 1 and following not in seen:
        seen.add(character := following)
    return character
