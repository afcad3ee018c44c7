"""The choice of texts to annotate: those that the model is uncertain about and whose words are new."""

from heapq import heapify, heappop, heappush
from typing import AbstractSet, Iterable, List, NamedTuple, Sequence, Set

DIVERSITY = 0.5


class Candidate(NamedTuple):
    """A text that may be chosen."""

    uncertainty: float  # from 0 to 1: the probability of the second best path, relative to that of the best
    words: AbstractSet[int]  # hashes of its candidate words


class Choice(NamedTuple):
    """A chosen text."""

    number: int  # its position among the candidates
    worth: float  # from 0 to 1
    novelty: float  # the share of its words that were neither known nor in a previously chosen text


def choose(
    candidates: Sequence[Candidate], n: int, *, known: Iterable[int] = (), diversity: float = DIVERSITY
) -> List[Choice]:
    """Choose texts greedily by worth: uncertainty * (1 - diversity * (1 - novelty)). A text's worth can only fall as
    others are chosen, so few have to be re-evaluated (lazy greedy search, Minoux 1978).

    known (Iterable[int]): Hashes of words that are not new.
    diversity (float): From 0 (only uncertainty counts) to 1 (a text without new words is worth nothing).
    RETURNS (List[Choice]): At most n texts, the most worthwhile first; ties in the order of the candidates.
    """
    check_diversity(diversity)
    seen: Set[int] = set(known)

    def value(number: int) -> Choice:
        uncertainty, words = candidates[number]
        novelty = len(words - seen) / len(words) if words else 0.0
        return Choice(number, uncertainty * (1 - diversity * (1 - novelty)), novelty)

    queue = [(-choice.worth, choice.number, choice) for choice in map(value, range(len(candidates)))]
    heapify(queue)
    chosen: List[Choice] = []
    while queue and len(chosen) < n:
        _, number, before = heappop(queue)
        now = value(number)
        if now.worth < before.worth:
            heappush(queue, (-now.worth, number, now))
        else:
            chosen.append(now)
            seen |= candidates[number].words
    return chosen


def check_diversity(diversity: float) -> None:
    """Raise ValueError unless the diversity is from 0 to 1."""
    if not 0 <= diversity <= 1:
        raise ValueError(f"diversity is {diversity}; expected a number from 0 (uncertainty alone) to 1.")
