"""The wanted output for texts, and the results: plain values, for processes with and without a pipeline."""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

ANNOTATION = ("text", "entities", "words", "alternatives", "uncertain", "lex_version", "doc")  # names in the output


class Wanted(NamedTuple):
    """What to write for a text in addition to its entities."""

    words: bool = False  # candidate words
    alternatives: int = 0  # number of the most probable paths
    uncertain: Optional[Tuple[float, float]] = None  # spans whose probability lies between these bounds
    version: bool = False  # `doc._.lex_version`
    doc: bool = False  # the Doc itself, as bytes

    @property
    def columns(self) -> List[str]:
        """RETURNS (List[str]): The names of what is written for a text."""
        wanted = (True, True, self.words, self.alternatives, self.uncertain, self.version, self.doc)
        return [name for name, asked in zip(ANNOTATION, wanted) if asked]


class Result(NamedTuple):
    """The result of a text: a row, or the reason why there is none."""

    row: Optional[Dict[str, Any]]
    reason: str = ""
    traceback: str = ""


def rename_fields(fields: Mapping[str, Any]) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): The other columns of an input, with "input_" before the names of annotation."""
    renamed = {}
    for name, value in fields.items():
        new = name
        while new in ANNOTATION or (new != name and new in fields):
            new = f"input_{new}"
        renamed[new] = value
    return renamed
