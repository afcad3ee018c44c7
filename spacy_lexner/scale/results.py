"""What is wanted of texts, and what became of them: plain values, for processes with and without a pipeline."""

from typing import Any, Dict, NamedTuple, Optional, Tuple


class Wanted(NamedTuple):
    """What is written of a text besides its entities."""

    words: bool = False  # candidate words
    alternatives: int = 0  # how many of the most probable paths
    uncertain: Optional[Tuple[float, float]] = None  # spans with a probability between these bounds
    version: bool = False  # `doc._.lex_version`
    doc: bool = False  # the Doc itself, as bytes


class Result(NamedTuple):
    """What became of a text: a row, or the reason why there is none."""

    row: Optional[Dict[str, Any]]
    reason: str = ""
    traceback: str = ""
