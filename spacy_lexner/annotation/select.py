"""The choice of texts: those about which the model is in doubt, and whose words are new."""

from heapq import heapify, heappop, heappush
from typing import AbstractSet, Iterable, List, NamedTuple, Sequence, Set

DIVERSITY = 0.5


class Candidate(NamedTuple):
    """A text that may be chosen.

    doubt (float): From 0 to 1, how many times as probable as the best reading the second best is.
    words (FrozenSet[int]): The candidate words in it.
    """

    doubt: float
    words: AbstractSet[int]


class Choice(NamedTuple):
    """A text that was chosen.

    number (int): Which one.
    worth (float): From 0 to 1, what it is worth.
    novelty (float): From 0 to 1, the share of its words that were not known and not in a text chosen before.
    """

    number: int
    worth: float
    novelty: float


def choose(
    candidates: Sequence[Candidate], n: int, *, known: Iterable[int] = (), diversity: float = DIVERSITY
) -> List[Choice]:
    """Choose texts, one after the other the one that is worth most: doubt times 1 - diversity * (1 - novelty). What a
    text is worth only falls while others are chosen, so few have to be valued again (lazy greedy search, Minoux 1978).

    candidates (Sequence[Candidate]): The texts.
    n (int): How many to choose.
    known (Iterable[int]): Words that are no news.
    diversity (float): From 0, for doubt alone, to 1, where a text without new words is worth nothing.
    RETURNS (List[Choice]): At most n texts, the most worthy first; among equals, in their order.
    """
    if not 0 <= diversity <= 1:
        raise ValueError(f"diversity is {diversity}; expected a number from 0 (doubt alone) to 1.")
    seen: Set[int] = set(known)

    def value(number: int) -> Choice:
        doubt, words = candidates[number]
        novelty = len(words - seen) / len(words) if words else 0.0
        return Choice(number, doubt * (1 - diversity * (1 - novelty)), novelty)

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
