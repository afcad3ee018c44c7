"""Rules about whole spans, and what follows from forced spans that overlap.

A path can have only some of the forced spans that overlap. It is consistent if every forced span that it lacks overlaps
one that it has. Spans linked by overlapping form a cluster. The tokens of a cluster outside a path's forced spans form
runs, and a path is consistent if no run contains a whole forced span. So where a run begins, it is known how far it may
go: its reach.
"""

from bisect import bisect_left
from itertools import accumulate, groupby
from types import MappingProxyType
from typing import Iterable, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from .tag_scheme import TagSpan

NEVER = float("-inf")
NO_WEIGHTS: Mapping[TagSpan, float] = MappingProxyType({})


class SpanRules(NamedTuple):
    """Rules about the spans of a text. A path has to spell the `forced` spans, except those that overlap another one it
    spells; with a label that the tags lack, a span scores as if it were outside. `weights` are added to the score of
    paths that spell a span; minus infinity excludes it. Of labels that the tags lack only forced spans have weights."""

    forced: Tuple[TagSpan, ...] = ()
    weights: Mapping[TagSpan, float] = NO_WEIGHTS

    def __bool__(self) -> bool:
        return bool(self.forced or self.weights)


class Run(NamedTuple):
    """The tokens that runs of one reach can have."""

    reach: Optional[int]  # the least end of the forced spans that begin where the run does, or later; None without one
    start: int  # the tokens; there may be none
    end: int
    colour: int  # differs between runs on the same or neighbouring tokens; 0 for runs that leave the cluster


class Cluster:
    """Forced spans linked by overlapping: `spans`, ordered, and where they `start` and `end` together."""

    def __init__(self, spans: List[TagSpan]) -> None:
        self.spans = spans
        self.start = spans[0].start
        self.end = max(span.end for span in spans)
        self._starts = [span.start for span in spans]
        self._first_ends = [*accumulate(reversed([span.end for span in spans]), min)][::-1]

    @property
    def leaves_no_choice(self) -> bool:
        """RETURNS (bool): Whether all spans are on the same tokens, so that they differ only in their labels."""
        return all(span[:2] == (self.start, self.end) for span in self.spans)

    def reach(self, start: int) -> Optional[int]:
        """The reach of a run that begins at a token: it must end before."""
        later = bisect_left(self._starts, start)
        return self._first_ends[later] if later < len(self.spans) else None

    def runs(self) -> Iterator[Run]:
        """For each reach the tokens that runs can have, ordered by where they begin."""
        starts = sorted({self.start, *(span.end for span in self.spans)})
        by_reach = [(reach, next(group)) for reach, group in groupby(starts, self.reach)]
        last_start = by_reach[-1][1]  # the last span ends there or earlier, so nothing is in reach
        near: List[Tuple[int, int]] = []  # end and colour of the runs before that may touch
        for reach, start in by_reach:
            end = self.end + 1 if reach is None else reach - 1
            near = [run for run in near if run[0] >= start]
            taken = {colour for _, colour in near} | ({0} if end >= last_start else set())
            free = next(colour for colour in range(len(taken) + 1) if colour not in taken)
            colour = 0 if reach in (self._first_ends[0], None) else free
            if start < end:
                near.append((end, colour))
            yield Run(reach, start, end, colour)


def find_clusters(spans: Iterable[TagSpan]) -> Iterator[Cluster]:
    """The clusters of spans, from left to right."""
    linked: List[TagSpan] = []
    end = 0
    for span in sorted(set(spans)):
        if linked and span.start >= end:
            yield Cluster(linked)
            linked = []
        linked.append(span)
        end = max(end, span.end)
    if linked:
        yield Cluster(linked)
