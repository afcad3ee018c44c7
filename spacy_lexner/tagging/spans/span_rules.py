"""Rules about whole spans, made part of a chain of tags.

Which span a tag belongs to cannot be told from the tag and its neighbours: "inside" looks the same wherever the span
began. So a rule about one span is no matter of tags, and no sum over paths of tags can hold it. Here tags are refined
to states, in which such a rule is one about single states. A path of tags corresponds to exactly one path of states, or
to none where rules refuse it; so the best path, sums over paths and probabilities of states are those of tags under the
rules, exactly, by the algorithms that work on tags.

Weights. All spans of a label that begin at a token where a span with a weight begins take states of their own, a chain,
up to the last token of the longest of these spans. There the chain's end states know their span, and receive the
weight, or are closed to it. A span that goes on beyond passes through the chain's exit to the ordinary states.

Forced spans. One that overlaps no other leaves no choice: its tags are the only ones. Where some overlap, not all can
be there, and the paths that are left are the consistent ones (see `layers.forced_spans`). Forced spans of a cluster
take states of their own. Runs of different reach between them take different copies of the ordinary states where they
could be mistaken for each other: these are the colours. All tokens outside of clusters have colour 0.
"""

from collections import Counter
from types import MappingProxyType
from typing import Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .forced_spans import Cluster, find_clusters
from .span_states import CHAIN, EXIT, FORCED, NO_COLOUR, Key, Layout, Slots, States, build_states
from .tag_scheme import BEGIN, END, INSIDE, SINGLE, Bools2d, Ints1d, TagSpan, span_tags

NEVER = float("-inf")
NO_WEIGHTS: Mapping[TagSpan, float] = MappingProxyType({})


class SpanRules(NamedTuple):
    """What is decreed about the spans of a text.

    forced (Tuple[TagSpan, ...]): The spans that a path has to spell, unless it spells another one that overlaps it.
        Labels beyond those of the tags are possible; such a span scores as if it were outside.
    weights (Mapping[TagSpan, float]): What is added to the score of the paths that spell a span; minus infinity if none
        may. Of labels beyond those of the tags only forced spans have weights.
    """

    forced: Tuple[TagSpan, ...] = ()
    weights: Mapping[TagSpan, float] = NO_WEIGHTS

    def __bool__(self) -> bool:
        return bool(self.forced or self.weights)


class Unfolded(NamedTuple):
    """A text in terms of states.

    allowed (Bools2d): The states that a token may have, [n_tokens, n_states].
    tokens (Ints1d), states (Ints1d), weights (NDArray[float]): What is added to the score of a state at a token.
    runs (SpanRuns): Gives the runs of states that spell a span.
    """

    allowed: Bools2d
    tokens: Ints1d
    states: Ints1d
    weights: np.ndarray
    runs: "SpanRuns"


def unfold(allowed: Sequence[Bools2d], rules: Sequence[SpanRules]) -> Tuple[States, List[Unfolded]]:
    """Refine the tags of a batch so far as its rules demand.

    allowed (Sequence[Bools2d]): The tags that tokens may have, [n_tokens, n_tags] each, in the order of TagScheme.
    rules (Sequence[SpanRules]): The rules. Forced spans have to agree with what is allowed.
    RETURNS (Tuple[States, List[Unfolded]]): The states, and each text.
    """
    plans = [_Plan(mask, decreed) for mask, decreed in zip(allowed, rules)]
    sizes: Counter[Key] = Counter()
    for plan in plans:
        sizes |= plan.slots.sizes
    layout = Layout(allowed[0].shape[1], max(len(plan.alive) for plan in plans), tuple(sorted(sizes.items())))
    return build_states(layout), [plan.unfold(layout) for plan in plans]


class SpanRuns(NamedTuple):
    """The states that spell spans of a text: one run for each colour that a span can have."""

    layout: Layout
    chains: Dict[Tuple[int, int, int], "_Chain"]
    forced: Dict[TagSpan, "_Forced"]
    allowed: Bools2d

    def __call__(self, span: TagSpan) -> List[Ints1d]:
        """RETURNS (List[Ints1d]): The runs of states that spell a span; none where rules refuse it."""
        return [run for run in self._candidates(span) if self.allowed[np.arange(span.start, span.end), run].all()]

    def _candidates(self, span: TagSpan) -> Iterator[Ints1d]:
        if span in self.forced:
            yield self.forced[span].states(self.layout)
        tags = span_tags(span)
        if tags[0] < self.layout.n_tags:
            for colour in range(self.layout.n_colours):
                chain = self.chains.get((span.start, span.label, colour))
                run = tags + self.layout.n_tags * colour
                yield run if chain is None or len(run) == 1 else chain.states(run, span.end, self.layout)


class _Chain(NamedTuple):
    """States for all spans of a label that begin at one token, up to `stop`; `ends` are those with a weight."""

    start: int
    stop: int
    label: int
    colour: int
    slot: int
    ends: Dict[int, float]

    def first_state(self, layout: Layout) -> int:
        return layout.first_state((CHAIN, self.label, self.colour), self.slot)

    def states(self, run: Ints1d, end: int, layout: Layout) -> Ints1d:
        """RETURNS (Ints1d): The ordinary states that spell a span, in place of them those of the chain as far as it
        reaches."""
        states, first, reach = run.copy(), self.first_state(layout), self.stop - self.start
        states[:reach] = first + INSIDE
        states[0] = first + BEGIN
        if end <= self.stop:
            states[-1] = first + END
        else:
            states[reach - 1] = first + EXIT
        return states


class _Forced(NamedTuple):
    """States for one forced span; the colour is that of the tokens behind it."""

    span: TagSpan
    colour: int
    slot: int

    def states(self, layout: Layout) -> Ints1d:
        """RETURNS (Ints1d): The states that spell the span."""
        first = layout.first_state((FORCED, self.span.label, self.colour), self.slot)
        return first + span_tags(self.span._replace(label=0)) - 1


class _Plan:
    """What states a text needs, before these have numbers."""

    def __init__(self, allowed: Bools2d, rules: SpanRules) -> None:
        self.allowed = allowed.copy()
        self.weights = rules.weights
        self.ordinary = {span: w for span, w in rules.weights.items() if 1 + 4 * span.label < allowed.shape[1]}
        self.slots = Slots()
        self.alive: List[np.ndarray] = [np.ones(len(allowed), dtype=bool)]  # where tokens may have each colour
        self.forced: Dict[TagSpan, _Forced] = {}
        for cluster in find_clusters(rules.forced):
            if cluster.leaves_no_choice and all(1 + 4 * span.label < allowed.shape[1] for span in cluster.spans):
                self._fix(cluster)
            else:
                self._force(cluster)
        self.chains = {(chain.start, chain.label, chain.colour): chain for chain in self._plan_chains()}

    def _fix(self, cluster: Cluster) -> None:
        """Leave only the tags of spans that are all on the same tokens."""
        tokens = np.arange(cluster.start, cluster.end)
        spelled = np.zeros((len(tokens), self.allowed.shape[1]), dtype=bool)
        for span in cluster.spans:
            spelled[tokens - cluster.start, span_tags(span)] = True
        self.allowed[tokens] &= spelled

    def _force(self, cluster: Cluster) -> None:
        """Give the spans of a cluster states of their own, and the runs between them colours."""
        self.alive[0][cluster.start : cluster.end] = False
        colours: Dict[Optional[int], int] = {}
        for reach, begin, stop, colour in cluster.runs():
            colours[reach] = colour if begin < stop else NO_COLOUR
            if colour == len(self.alive):
                self.alive.append(np.zeros(len(self.allowed), dtype=bool))
            self.alive[colour][begin : max(begin, min(stop, cluster.end))] = True
        for span in cluster.spans:
            colour = colours[cluster.reach(span.end)]
            slot = self.slots.take((FORCED, span.label, colour), span.start, span.end)
            self.forced[span] = _Forced(span, colour, slot)

    def _plan_chains(self) -> Iterator[_Chain]:
        ends: Dict[Tuple[int, int], Dict[int, float]] = {}
        for (start, end, label), weight in self.ordinary.items():
            if end - start > 1:
                ends.setdefault((start, label), {})[end] = weight
        for (start, label), weights in sorted(ends.items()):
            stop = max(weights)
            for colour in self._colours(start):
                slot = self.slots.take((CHAIN, label, colour), start, stop)
                yield _Chain(start, stop, label, colour, slot, weights)

    def _colours(self, token: int) -> List[int]:
        return [colour for colour, alive in enumerate(self.alive) if alive[token]]

    def unfold(self, layout: Layout) -> Unfolded:
        """RETURNS (Unfolded): The text, in the states of a layout."""
        n_tags = layout.n_tags
        allowed = np.zeros((len(self.allowed), layout.n_states), dtype=bool)
        for colour, alive in enumerate(self.alive):
            allowed[:, n_tags * colour : n_tags * (colour + 1)] = self.allowed & alive[:, None]
        weighted: List[Tuple[int, int, float]] = []  # token, state, weight
        for (start, end, label), weight in self.ordinary.items():
            if end - start == 1:
                single = 1 + 4 * label + SINGLE
                weighted.extend((start, single + n_tags * colour, weight) for colour in self._colours(start))
        for chain in self.chains.values():
            self._open_chain(chain, layout, allowed)
            last = chain.first_state(layout) + END
            weighted.extend((end - 1, last, weight) for end, weight in chain.ends.items())
        for span, forced in self.forced.items():
            states = forced.states(layout)
            allowed[np.arange(span.start, span.end), states] = True
            weighted.append((span.end - 1, int(states[-1]), self.weights.get(span, 0.0)))
        for token, state, weight in weighted:
            if weight == NEVER:
                allowed[token, state] = False
        rows = [row for row in weighted if row[2] != NEVER]
        tokens, states = (np.array([row[i] for row in rows], dtype=np.int64) for i in (0, 1))
        weights = np.array([row[2] for row in rows], dtype=np.float64)
        return Unfolded(allowed, tokens, states, weights, SpanRuns(layout, self.chains, self.forced, allowed))

    def _open_chain(self, chain: _Chain, layout: Layout, allowed: Bools2d) -> None:
        """Let the tokens of a chain have its states; only these begin a span there."""
        start, stop, first, ordinary = chain.start, chain.stop, chain.first_state(layout), 1 + 4 * chain.label
        tokens = slice(start, stop)
        free = self.allowed[tokens, ordinary : ordinary + 4] & self.alive[chain.colour][tokens, None]
        allowed[start, layout.n_tags * chain.colour + ordinary + BEGIN] = False
        allowed[start, first + BEGIN] = free[0, BEGIN]
        allowed[start + 1 : stop - 1, first + INSIDE] = free[1:-1, INSIDE]
        allowed[start + 1 : stop, first + END] = free[1:, END]
        allowed[stop - 1, first + EXIT] = free[-1, INSIDE]
