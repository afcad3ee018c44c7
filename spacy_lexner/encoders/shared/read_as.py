"""Normalisation of the characters that encoders read: none, that of a lexicon, or to simplified script."""

from typing import Any, Dict, Literal, Mapping, Optional

from ...lexicon.lexicon import Lexicon
from ...lexicon.normalization import Normalization

ReadAs = Literal["written", "lexicon", "simplified"]
NO_LEXICON = (
    'read_as = "lexicon" reads characters as the lexicon compares words, but this model reads no words. Choose '
    '"written" or "simplified".'
)
KEY = "normalization"  # in the settings that are saved with a module; absent if characters are read as written


def choose_normalization(read_as: ReadAs, lexicon: Optional[Lexicon]) -> Normalization:
    """The normalisation of characters before they are looked up.

    read_as (str): "written": none. "lexicon": that of the lexicon of training (case, width, script). "simplified":
        simplified script, for a model without words; needs the package `opencc`.
    lexicon (Optional[Lexicon]): The lexicon of training; None for a model without words.
    RETURNS (Normalization): The normalisation. Raises ValueError if it is that of a lexicon, and there is none.
    """
    if read_as == "lexicon" and lexicon is None:
        raise ValueError(NO_LEXICON)
    if read_as == "lexicon" and lexicon is not None:
        return lexicon.normalization
    return Normalization(script="simplified") if read_as == "simplified" else Normalization()


def save_normalization(normalization: Normalization) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): What the settings of a module say about it: nothing if it changes nothing."""
    return {KEY: normalization.settings()} if any(normalization) else {}


def load_normalization(settings: Mapping[str, Any]) -> Normalization:
    """RETURNS (Normalization): What the settings say, see `save_normalization`."""
    return Normalization(**settings.get(KEY, {}))
