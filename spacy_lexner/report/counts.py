"""Counts of the entities found, predicted wrongly and missed, for each text and label."""

from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np

from ..visualize.lattice import Mark
from .gold import GoldText

ALL, SEEN, UNSEEN = ("all", ""), ("seen", ""), ("unseen", "")
ColumnT = Tuple[str, str]


class Counts(NamedTuple):
    """Counts of entities."""

    columns: List[ColumnT]  # ALL; ("label", label) for each; SEEN and UNSEEN if the training texts are known
    values: np.ndarray  # int64[n_texts, n_columns, 3]: found, predicted wrongly and missed in each text

    @property
    def labels(self) -> List[str]:
        """The labels, sorted."""
        return [name for kind, name in self.columns if kind == "label"]

    def total(self, column: ColumnT = ALL) -> List[int]:
        """RETURNS (List[int]): How many entities of a column are found, predicted wrongly and missed in all texts."""
        return self.values[:, self.columns.index(column)].sum(0).tolist()


def count(gold: Sequence[GoldText], predicted: Sequence[Sequence[Mark]], seen: Optional[Set[str]] = None) -> Counts:
    """Count entities; one is found if its place and its label are right. Predictions that touch unannotated stretches
    are ignored. `seen` holds the mentions in the training texts: entities and predictions with one of these texts count
    as SEEN, the others as UNSEEN."""
    every = (mark.label for marks in (*(text.marks for text in gold), *predicted) for mark in marks)
    names = [ALL, *(("label", label) for label in sorted(set(every))), *([] if seen is None else [SEEN, UNSEEN])]
    columns = {column: i for i, column in enumerate(names)}
    values = np.zeros((len(gold), len(columns), 3), "i8")
    for i, (text, marks) in enumerate(zip(gold, predicted)):
        right, found = keys(text.marks), keys(annotated(text, marks))
        for kind, spans in enumerate((right & found, found - right, right - found)):
            for start, end, label in spans:
                values[i, 0, kind] += 1
                values[i, columns["label", label], kind] += 1
                if seen is not None:
                    values[i, columns[SEEN if text.text[start:end] in seen else UNSEEN], kind] += 1
    return Counts(names, values)


def keys(marks: Iterable[Mark]) -> Set[Tuple[int, int, str]]:
    """RETURNS (Set[Tuple[int, int, str]]): The places and labels of entities."""
    return {(mark.start, mark.end, mark.label) for mark in marks}


def annotated(text: GoldText, marks: Iterable[Mark]) -> List[Mark]:
    """RETURNS (List[Mark]): The predictions that touch no unannotated stretch."""
    return [mark for mark in marks if not any(mark.start < end and start < mark.end for start, end in text.unknown)]


def scores(found: float, wrong: float, missed: float) -> Dict[str, Optional[float]]:
    """RETURNS (Dict[str, Optional[float]]): Precision `p`, recall `r` and F-score `f`; None for a division by zero."""
    return {
        "p": found / (found + wrong) if found + wrong else None,
        "r": found / (found + missed) if found + missed else None,
        "f": 2 * found / (2 * found + wrong + missed) if found + wrong + missed else None,
    }
