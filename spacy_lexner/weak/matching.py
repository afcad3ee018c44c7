"""Matching a dictionary without a model, which is what a model that learns from it must surpass."""

from typing import List, Sequence

from ..report.counts import count, scores
from ..report.gold import GoldText
from ..visualize.lattice import Mark
from .label import Labeller


def match(labeller: Labeller, texts: Sequence[str]) -> List[List[Mark]]:
    """RETURNS (List[List[Mark]]): The dictionary's words in each text as entities with their first label, in order; of
    overlapping ones the longest, then the first."""
    return [
        _longest([Mark(each.start, each.end, each.labels[0]) for each in found if each.labels])
        for found in labeller.label(texts)
    ]


def score_matching(labeller: Labeller, gold: Sequence[GoldText]) -> float:
    """RETURNS (float): The F1 of `match` on annotated texts."""
    return scores(*count(gold, match(labeller, [text.text for text in gold])).total())["f"] or 0.0


def _longest(marks: List[Mark]) -> List[Mark]:
    kept: List[Mark] = []
    for mark in sorted(marks, key=lambda mark: (mark.start - mark.end, mark.start)):
        if all(mark.end <= other.start or other.end <= mark.start for other in kept):
            kept.append(mark)
    return sorted(kept)
