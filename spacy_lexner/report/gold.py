"""Annotated texts with entities in characters, so that models with different tokenizers can be compared on them."""

from pathlib import Path
from typing import Iterable, Iterator, List, NamedTuple, Set, Tuple, Union

from spacy.tokens import Doc

from ..formats.spacy_file import read_annotated
from ..pipeline.token_runs import find_runs
from ..visualize.lattice import Mark, read_marks


class GoldText(NamedTuple):
    """A text with its entities. Predictions in unknown stretches do not count."""

    text: str
    marks: List[Mark]
    unknown: List[Tuple[int, int]]  # stretches of characters (half-open) without annotation


def read_gold(path: Union[str, Path]) -> Iterator[GoldText]:
    """Read the annotated texts of a `.spacy` file, or of all in a folder; empty and unannotated texts are skipped.
    Raises ValueError if none are left, and FileNotFoundError if there is no file."""
    return map(to_gold, read_annotated(path))


def to_gold(doc: Doc) -> GoldText:
    """Convert an annotated Doc."""
    missing = doc.to_array("ENT_IOB") == 0
    unknown = [(doc[a].idx, doc[b - 1].idx + len(doc[b - 1])) for a, b in find_runs(missing)]
    return GoldText(doc.text, [mark._replace(score=None) for mark in read_marks(doc.ents)], unknown)


def mentions(gold: Iterable[GoldText]) -> Set[str]:
    """RETURNS (Set[str]): The texts of all entities."""
    return {text[mark.start : mark.end] for text, marks, _ in gold for mark in marks}
