"""The wanted output for texts, and the results: plain values, for processes with and without a pipeline."""

from typing import Any, Dict, NamedTuple, Optional, Tuple


class Wanted(NamedTuple):
    """What to write for a text in addition to its entities."""

    words: bool = False  # candidate words
    alternatives: int = 0  # number of the most probable paths
    uncertain: Optional[Tuple[float, float]] = None  # spans whose probability lies between these bounds
    version: bool = False  # `doc._.lex_version`
    doc: bool = False  # the Doc itself, as bytes


class Result(NamedTuple):
    """The result of a text: a row, or the reason why there is none."""

    row: Optional[Dict[str, Any]]
    reason: str = ""
    traceback: str = ""
