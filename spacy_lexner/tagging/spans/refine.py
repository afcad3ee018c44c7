"""Rules about whole spans, made part of a chain of tags.

A tag and its neighbours do not show which span they belong to: "inside" looks the same wherever the span began. So no
sum over paths of tags can express a rule about one span. Here tags are refined to states, in which such a rule is about
single states. A path of tags corresponds to exactly one path of states, or to none where rules exclude it; so the
algorithms for tags compute the best path, sums over paths and probabilities under the rules exactly.

Weights. All spans of a label that begin where a span with a weight begins take states of their own, a chain, up to the
last token of the longest weighted span. The chain's end states know their span: they receive its weight, or are closed
to it. A longer span passes through the chain's exit to the ordinary states.

Forced spans. One that overlaps no other leaves no choice of tags. Where some overlap, not all fit, and the allowed
paths are the consistent ones (see `spans.span_rules`). Each forced span of such a cluster takes states of its own. The
runs between them take different copies of the ordinary states, called colours, if they differ in reach and could be
confused. All tokens outside of clusters have colour 0.
"""

from collections import Counter
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .span_rules import NEVER, Cluster, SpanRules, find_clusters
from .states import CHAIN, EXIT, FORCED, NO_COLOUR, Key, Layout, Slots, States, build_states
from .tag_scheme import BEGIN, END, INSIDE, SINGLE, Bools2d, Ints1d, TagSpan, span_tags


def refine(allowed: Sequence[Bools2d], rules: Sequence[SpanRules]) -> Tuple[States, List["RefinedDoc"]]:
    """Refine a batch's tags to states as far as its rules need it, and its Docs with them. Forced spans must be
    allowed."""
    plans = [_Plan(mask, own) for mask, own in zip(allowed, rules)]
    sizes: Counter[Key] = Counter()
    for plan in plans:
        sizes |= plan.slots.sizes
    layout = Layout(allowed[0].shape[1], max(len(plan.alive) for plan in plans), tuple(sorted(sizes.items())))
    return build_states(layout), [RefinedDoc(plan, layout) for plan in plans]


class _Chain(NamedTuple):
    """States for all spans of a label that begin at `start`, up to `end` (exclusive)."""

    start: int
    end: int
    label: int
    colour: int
    slot: int
    weights: Dict[int, float]  # of spans, by their end

    def first_state(self, layout: Layout) -> int:
        return layout.first_state((CHAIN, self.label, self.colour), self.slot)

    def states(self, run: Ints1d, end: int, layout: Layout) -> Ints1d:
        """The ordinary states `run` that spell a span, replaced by those of the chain as far as it reaches."""
        states, first, reach = run.copy(), self.first_state(layout), self.end - self.start
        states[:reach] = first + INSIDE
        states[0] = first + BEGIN
        if end <= self.end:
            states[-1] = first + END
        else:
            states[reach - 1] = first + EXIT
        return states


class _Forced(NamedTuple):
    """States for one forced span; the colour is that of the tokens after it."""

    span: TagSpan
    colour: int
    slot: int

    def states(self, layout: Layout) -> Ints1d:
        first = layout.first_state((FORCED, self.span.label, self.colour), self.slot)
        return first + span_tags(self.span._replace(label=0)) - 1


class _Plan:
    """The states that a Doc needs, before they are numbered."""

    def __init__(self, allowed: Bools2d, rules: SpanRules) -> None:
        self.n_tags = allowed.shape[1]
        self.allowed = allowed.copy()
        self.weights = rules.weights
        self.ordinary = {span: weight for span, weight in rules.weights.items() if self.has_tags(span)}
        self.slots = Slots()
        self.alive: List[np.ndarray] = [np.ones(len(allowed), dtype=bool)]  # where tokens may have each colour
        self.forced: Dict[TagSpan, _Forced] = {}
        for cluster in find_clusters(rules.forced):
            if cluster.leaves_no_choice and all(map(self.has_tags, cluster.spans)):
                self._fix(cluster)
            else:
                self._force(cluster)
        self.chains = {(chain.start, chain.label, chain.colour): chain for chain in self._plan_chains()}

    def has_tags(self, span: TagSpan) -> bool:
        return 1 + 4 * span.label < self.n_tags

    def colours(self, token: int) -> List[int]:
        return [colour for colour, alive in enumerate(self.alive) if alive[token]]

    def _fix(self, cluster: Cluster) -> None:
        """Leave only the tags of a cluster's spans, which are all on the same tokens."""
        spelled = np.zeros((cluster.end - cluster.start, self.n_tags), dtype=bool)
        for span in cluster.spans:
            spelled[np.arange(len(spelled)), span_tags(span)] = True
        self.allowed[cluster.start : cluster.end] &= spelled

    def _force(self, cluster: Cluster) -> None:
        """Give the spans of a cluster states of their own, and the runs between them colours."""
        self.alive[0][cluster.start : cluster.end] = False
        colours: Dict[Optional[int], int] = {}
        for reach, start, end, colour in cluster.runs():
            colours[reach] = colour if start < end else NO_COLOUR
            if colour == len(self.alive):
                self.alive.append(np.zeros(len(self.allowed), dtype=bool))
            self.alive[colour][start : max(start, min(end, cluster.end))] = True
        for span in cluster.spans:
            colour = colours[cluster.reach(span.end)]
            slot = self.slots.take((FORCED, span.label, colour), span.start, span.end)
            self.forced[span] = _Forced(span, colour, slot)

    def _plan_chains(self) -> Iterator[_Chain]:
        by_start: Dict[Tuple[int, int], Dict[int, float]] = {}
        for (start, end, label), weight in self.ordinary.items():
            if end - start > 1:
                by_start.setdefault((start, label), {})[end] = weight
        for (start, label), weights in sorted(by_start.items()):
            for colour in self.colours(start):
                slot = self.slots.take((CHAIN, label, colour), start, max(weights))
                yield _Chain(start, max(weights), label, colour, slot, weights)


class RefinedDoc:
    """A Doc in terms of states: `allowed`, [n_tokens, n_states], are those that a token may have; `weights` lists
    (token, state, what is added to its score there)."""

    def __init__(self, plan: _Plan, layout: Layout) -> None:
        self.layout = layout
        self._plan = plan
        self.allowed = np.zeros((len(plan.allowed), layout.n_states), dtype=bool)
        for colour, alive in enumerate(plan.alive):
            self.allowed[:, plan.n_tags * colour : plan.n_tags * (colour + 1)] = plan.allowed & alive[:, None]
        for chain in plan.chains.values():
            self._open_chain(chain)
        for span, forced in plan.forced.items():
            self.allowed[np.arange(span.start, span.end), forced.states(layout)] = True
        self.weights: List[Tuple[int, int, float]] = []
        for token, state, weight in self._all_weights():
            if weight == NEVER:
                self.allowed[token, state] = False
            else:
                self.weights.append((token, state, weight))

    def runs(self, span: TagSpan) -> List[Ints1d]:
        """The runs of states that spell a span, at most one per colour that it can have; none if rules exclude it."""
        return [run for run in self._all_runs(span) if self.allowed[np.arange(span.start, span.end), run].all()]

    def _all_runs(self, span: TagSpan) -> Iterator[Ints1d]:
        if span in self._plan.forced:
            yield self._plan.forced[span].states(self.layout)
        if self._plan.has_tags(span):
            for colour in range(self.layout.n_colours):
                chain = self._plan.chains.get((span.start, span.label, colour))
                run = span_tags(span) + self._plan.n_tags * colour
                yield run if chain is None or len(run) == 1 else chain.states(run, span.end, self.layout)

    def _all_weights(self) -> Iterator[Tuple[int, int, float]]:
        for (start, end, label), weight in self._plan.ordinary.items():
            if end - start == 1:
                for colour in self._plan.colours(start):
                    yield start, 1 + 4 * label + SINGLE + self._plan.n_tags * colour, weight
        for chain in self._plan.chains.values():
            for end, weight in chain.weights.items():
                yield end - 1, chain.first_state(self.layout) + END, weight
        for span, forced in self._plan.forced.items():
            yield span.end - 1, int(forced.states(self.layout)[-1]), self._plan.weights.get(span, 0.0)

    def _open_chain(self, chain: _Chain) -> None:
        """Let the tokens of a chain have its states; only these begin a span there."""
        start, end, first, ordinary = chain.start, chain.end, chain.first_state(self.layout), 1 + 4 * chain.label
        free = self._plan.allowed[start:end, ordinary : ordinary + 4] & self._plan.alive[chain.colour][start:end, None]
        self.allowed[start, self._plan.n_tags * chain.colour + ordinary + BEGIN] = False
        self.allowed[start, first + BEGIN] = free[0, BEGIN]
        self.allowed[start + 1 : end - 1, first + INSIDE] = free[1:-1, INSIDE]
        self.allowed[start + 1 : end, first + END] = free[1:, END]
        self.allowed[end - 1, first + EXIT] = free[-1, INSIDE]
