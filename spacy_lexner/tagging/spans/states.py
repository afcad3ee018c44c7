"""Tags refined to states, and the legal moves between these.

The ordinary states of each colour come first, one per tag; then groups of four, for spans that have states of their
own: those of chains, and forced ones (see `spans.refine`).
"""

from collections import Counter
from functools import lru_cache
from itertools import product
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from .tag_scheme import BEGIN, END, INSIDE, OUTSIDE, SINGLE, Bools2d, Ints1d, legal_moves

CHAIN, FORCED = "chain", "forced"
EXIT = 3  # a chain has BEGIN, INSIDE, END, and this one, through which longer spans leave it
ANY_COLOUR, NO_COLOUR = -1, -2
NO_KIND = -1
FRAME = -1  # the tag of rows outside of the text, such as [CLS] and [SEP]
Key = Tuple[str, int, int]  # what a group of four is for: CHAIN or FORCED, label, colour


class States(NamedTuple):
    """The states that the paths of a batch are made of."""

    scored: Ints1d  # [n_states], the tag whose scores a state has
    tags: Ints1d  # [n_states], the tag that it means, possibly one that only rules have; FRAME outside of the text
    legal: Bools2d  # [n_states + 1, n_states + 1], the moves between states, as in `legal_moves`
    refines: Optional[Ints1d] = None  # [n_states], the coarser state, of those that rules need; FRAME for none
    margin: int = 0  # number of rows before the first token, and after the last, in any Doc that is not empty

    def rows(self, mask: Bools2d) -> Bools2d:
        """A mask of a Doc's tokens as one of its rows, [n_rows, n_states]."""
        if self.refines is None or not len(mask):
            return mask if self.refines is None else np.zeros((0, len(self.tags)), dtype=bool)
        frames = self.refines == FRAME
        rows = np.tile(frames, (len(mask) + 2 * self.margin, 1))
        rows[self.margin : self.margin + len(mask)] = mask[:, self.refines] & ~frames
        return rows

    def runs(self, run: Ints1d) -> List[Ints1d]:
        """The legal runs of states that refine a run of those that rules need."""
        if self.refines is None:
            return [run]
        runs = map(np.array, product(*(np.flatnonzero(self.refines == state) for state in run)))
        return [found for found in runs if self.legal[found[:-1], found[1:]].all()]


def tag_states(n_tags: int) -> States:
    """The tags themselves as states."""
    tags = np.arange(n_tags)
    return States(tags, tags, legal_moves(n_tags))


class Layout(NamedTuple):
    """The numbering of states."""

    n_tags: int
    n_colours: int
    sizes: Tuple[Tuple[Key, int], ...]  # the number of groups of four of each kind, ordered

    @property
    def n_states(self) -> int:
        return self.n_tags * self.n_colours + 4 * sum(size for _, size in self.sizes)

    def first_state(self, key: Key, slot: int) -> int:
        """The first state of a group, given its kind and number."""
        before = sum(size for other, size in self.sizes if other < key)
        return self.n_tags * self.n_colours + 4 * (before + slot)


class Slots:
    """Numbers groups of four, so that those on the same tokens differ; `sizes` counts the numbers of each kind."""

    def __init__(self) -> None:
        self.sizes: Counter[Key] = Counter()
        self._ends: Dict[Key, List[int]] = {}

    def take(self, key: Key, start: int, end: int) -> int:
        """A number for a group on the tokens from `start` to `end` (exclusive). Starts must ascend."""
        ends = self._ends.setdefault(key, [])
        slot = next((i for i, other in enumerate(ends) if other <= start), len(ends))
        ends[slot : slot + 1] = [end]
        self.sizes[key] = len(ends)
        return slot


@lru_cache(maxsize=256)
def build_states(layout: Layout) -> States:
    """The states of a layout, with their legal moves."""
    n_tags = layout.n_tags
    # For each state: scored, tag, kind, label, group, group to go on in, colours before and after.
    columns: List[Tuple[int, ...]] = []
    for colour in range(layout.n_colours):
        columns.append((OUTSIDE, OUTSIDE, NO_KIND, NO_KIND, colour, colour, colour, colour))
        for tag in range(1, n_tags):
            columns.append((tag, tag, (tag - 1) % 4, (tag - 1) // 4, colour, colour, colour, colour))
    slots = (key for key, size in layout.sizes for _ in range(size))
    for group, (what, label, colour) in enumerate(slots, layout.n_colours):
        before = colour if what == CHAIN else ANY_COLOUR
        for place in range(4):
            kind, goes_on = (INSIDE, colour) if what == CHAIN and place == EXIT else (place, group)
            tag = 1 + 4 * label + kind
            columns.append((tag if tag < n_tags else OUTSIDE, tag, kind, label, group, goes_on, before, colour))
    scored, tags, kinds, labels, groups, goes_on, before, after = np.array(columns, dtype=np.int64).T
    opens, closed = np.isin(kinds, [NO_KIND, BEGIN, SINGLE]), np.isin(kinds, [NO_KIND, END, SINGLE])
    follows = (before[None, :] == ANY_COLOUR) | (before[None, :] == after[:, None])
    continues = (groups[None, :] == goes_on[:, None]) & (labels[None, :] == labels[:, None])
    legal = np.zeros((len(tags) + 1, len(tags) + 1), dtype=bool)
    legal[:-1, :-1] = np.where(closed[:, None], opens[None, :] & follows, ~opens[None, :] & continues)
    legal[-1, :-1] = opens & ((before == ANY_COLOUR) | (before == 0))
    legal[:-1, -1] = closed
    legal.setflags(write=False)
    return States(scored, tags, legal)
