"""Forced spans that overlap: not all of them can be there.

A path is consistent if every forced span that it lacks overlaps one that it has. Spans that are linked by overlapping
are a cluster. The tokens of a cluster that are in none of the spans that a path has form runs, and a path is consistent
if no run contains a whole forced span. Where a run begins, it is known how far it may go: its reach.
"""

from bisect import bisect_left
from itertools import accumulate, groupby
from typing import Iterable, Iterator, List, NamedTuple, Optional, Tuple

from .tag_scheme import TagSpan


class Run(NamedTuple):
    """The tokens that runs of one reach can have.

    reach (Optional[int]): Where the first forced span ends that lies wholly behind their beginning; None if none does.
    begin (int), stop (int): The tokens. There may be none.
    colour (int): Different from that of other runs on the same or neighbouring tokens. It is 0 for runs that go on
        outside of the cluster.
    """

    reach: Optional[int]
    begin: int
    stop: int
    colour: int


class Cluster:
    """Forced spans that are linked by overlapping.

    spans (List[TagSpan]): The spans, ordered.
    start (int), end (int): All of their tokens.
    """

    def __init__(self, spans: List[TagSpan]) -> None:
        self.spans = spans
        self.start = spans[0].start
        self.end = max(span.end for span in spans)
        self._starts = [span.start for span in spans]
        self._first_ends = [*accumulate(reversed([span.end for span in spans]), min)][::-1]

    @property
    def leaves_no_choice(self) -> bool:
        """RETURNS (bool): Whether all spans are on the same tokens, so that they differ in the label alone."""
        return all(span[:2] == (self.start, self.end) for span in self.spans)

    def reach(self, begin: int) -> Optional[int]:
        """RETURNS (Optional[int]): The reach of a run that begins at a token. It must have come to an end before."""
        behind = bisect_left(self._starts, begin)
        return self._first_ends[behind] if behind < len(self.spans) else None

    def runs(self) -> Iterator[Run]:
        """YIELDS (Run): For each reach the tokens that runs can have, ordered by where they begin."""
        first = self._first_ends[0]
        begins = sorted({self.start, *(span.end for span in self.spans)})
        by_reach = [(reach, next(group)) for reach, group in groupby(begins, self.reach)]
        last_begin = by_reach[-1][1]  # the last span ends there or further back, so nothing is in reach
        near: List[Tuple[int, int]] = []  # stop and colour of the runs before that may touch
        for reach, begin in by_reach:
            stop = self.end + 1 if reach is None else reach - 1
            near = [run for run in near if run[0] >= begin]
            taken = {colour for _, colour in near} | ({0} if stop >= last_begin else set())
            free = next(colour for colour in range(len(taken) + 1) if colour not in taken)
            colour = 0 if reach in (first, None) else free
            if begin < stop:
                near.append((stop, colour))
            yield Run(reach, begin, stop, colour)


def find_clusters(spans: Iterable[TagSpan]) -> Iterator[Cluster]:
    """YIELDS (Cluster): The clusters of spans, from left to right."""
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
