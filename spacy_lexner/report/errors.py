"""Classification of errors: wrong type, wrong boundary, both, missed or spurious."""

from collections import Counter
from typing import Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from ..visualize.lattice import Mark

CORRECT, TYPE, BOUNDARY, BOTH = "correct", "type", "boundary", "type and boundary"
MISSED, SPURIOUS = "missed", "spurious"
ERRORS = (TYPE, BOUNDARY, BOTH, MISSED, SPURIOUS)


class Outcome(NamedTuple):
    """An entity and the prediction for it."""

    kind: str  # "correct", or one of ERRORS
    gold: Optional[Mark]  # the entity; None if the prediction is spurious
    predicted: Optional[Mark]  # the prediction; None if the entity was missed


def pair(gold: Sequence[Mark], predicted: Sequence[Mark]) -> List[Outcome]:
    """Pair the entities of a text with its predictions, one to one: first those that agree, then those at the same
    place, then those that overlap with the same label, then those that overlap; larger overlaps first. Returns every
    entity and every prediction once."""
    outcomes: List[Outcome] = []
    gold, predicted = sorted(gold), sorted(predicted)
    overlapping = list(_find_overlapping(gold, predicted))
    used_gold: Set[int] = set()
    used_predicted: Set[int] = set()
    steps: Dict[str, Callable[[Mark, Mark], bool]] = {
        CORRECT: lambda a, b: a[:3] == b[:3],
        TYPE: lambda a, b: a[:2] == b[:2],
        BOUNDARY: lambda a, b: a.label == b.label,
        BOTH: lambda a, b: True,
    }
    for kind, fits in steps.items():
        pairs = [(-_overlap(gold[i], predicted[j]), i, j) for i, j in overlapping if fits(gold[i], predicted[j])]
        for _, i, j in sorted(pairs):
            if i not in used_gold and j not in used_predicted:
                used_gold.add(i)
                used_predicted.add(j)
                outcomes.append(Outcome(kind, gold[i], predicted[j]))
    outcomes += (Outcome(MISSED, mark, None) for i, mark in enumerate(gold) if i not in used_gold)
    outcomes += (Outcome(SPURIOUS, None, mark) for j, mark in enumerate(predicted) if j not in used_predicted)
    return outcomes


def count_errors(outcomes: Iterable[Outcome]) -> Dict[str, int]:
    """RETURNS (Dict[str, int]): The number of outcomes of each kind."""
    counts = Counter(outcome.kind for outcome in outcomes)
    return {kind: counts[kind] for kind in (CORRECT, *ERRORS)}


def count_confusions(outcomes: Iterable[Outcome]) -> Dict[str, Dict[str, int]]:
    """RETURNS (Dict[str, Dict[str, int]]): The confusion matrix of labels, whether or not the boundaries are right: for
    each gold label, how often each label was predicted. "" is no entity."""
    pairs = Counter(
        (outcome.gold.label if outcome.gold else "", outcome.predicted.label if outcome.predicted else "")
        for outcome in outcomes
    )
    labels = sorted({label for labels in pairs for label in labels} - {""})
    return {a: {b: pairs[a, b] for b in [*labels, ""] if a or b} for a in [*labels, ""]}


def _find_overlapping(gold: Sequence[Mark], predicted: Sequence[Mark]) -> Iterator[Tuple[int, int]]:
    """YIELDS (Tuple[int, int]): The indices of each entity and prediction that overlap; both are sorted."""
    low = 0  # the predictions before end before the entity and all later ones
    for i, mark in enumerate(gold):
        while low < len(predicted) and predicted[low].end <= mark.start:
            low += 1
        for j in range(low, len(predicted)):
            if predicted[j].start >= mark.end:
                break
            if predicted[j].end > mark.start:
                yield i, j


def _overlap(a: Mark, b: Mark) -> int:
    return min(a.end, b.end) - max(a.start, b.start)
