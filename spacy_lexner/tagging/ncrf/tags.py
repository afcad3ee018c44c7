"""The tags of an NCRF++ tagger (Yang and Zhang 2018), as in the code of LEBERT's authors: two of them are the start and
the stop, any tag may follow any other, and the spans are read off the tags afterwards.

There seqeval reads them: a span goes on from one token to the next if the first is at the beginning or inside of a
span, the second inside or at the end of one, and both have the same label. Here each tag is refined to states that also
know whether a span begins and whether one ends at the token. Each path of tags corresponds to exactly one path of
states, which determines its spans; so best paths and sums over paths are the same for tags and for states.
"""

from functools import lru_cache
from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ..spans.states import FRAME, States
from ..spans.tag_scheme import BEGIN, END, INSIDE, OUTSIDE, SINGLE, Bools2d, Ints1d

N_EXTRA = 2  # the start and the stop come after all other tags
MARGIN = 1  # [CLS] before the first token, and [SEP] after the last
OUTSIDE_TAG = "O"
_KINDS = {"B": BEGIN, "I": INSIDE, "M": INSIDE, "E": END, "S": SINGLE}
# How annotation is spelled: the first of these kinds that the tag set has.
_SPELLINGS = {BEGIN: (BEGIN, INSIDE), INSIDE: (INSIDE,), END: (END, INSIDE), SINGLE: (SINGLE, BEGIN, END, INSIDE)}
Kind = Optional[Tuple[int, str]]  # begin, inside, end or single, and a label; None for outside


class NCRFStates(NamedTuple):
    """Tags refined to states: those of tokens, then those of [CLS] and [SEP]."""

    columns: Ints1d  # [n_states], the tag whose scores a state has
    tags: Ints1d  # [n_states], its meaning in the order of TagScheme; FRAME for those of [CLS] and [SEP]
    spells: np.ndarray  # bool[n_states], whether annotation is spelled by it
    legal: Bools2d  # the moves, [n_states + 1, n_states + 1], as in `legal_moves`


def labels_of(tags: Sequence[str]) -> Tuple[str, ...]:
    """The sorted labels of a tag set without start and stop. Raises ValueError for a tag other than O, B-X, I-X or M-X,
    E-X and S-X, for two that are the same, and if there is no label."""
    kinds = [_parse(tag) for tag in tags]
    for i, kind in enumerate(kinds):
        if kind in kinds[:i]:
            raise ValueError(f"The tags {tags[kinds.index(kind)]!r} and {tags[i]!r} are the same; expected each once.")
    labels = sorted({kind[1] for kind in kinds if kind is not None})
    if not labels:
        raise ValueError(f"The tags {', '.join(tags) or '(none)'} have no label: expected some like B-PER and E-PER.")
    return tuple(labels)


@lru_cache(maxsize=16)
def ncrf_states(tags: Tuple[str, ...]) -> NCRFStates:
    """The states of a tag set. Raises ValueError if it is not one (see `labels_of`)."""
    labels = labels_of(tags)
    kinds: List[Kind] = [*map(_parse, tags), *[None] * N_EXTRA]
    rows: List[Tuple[int, int, bool, bool, bool]] = []  # column, tag, begins and ends a span, spells annotation
    for column, kind in enumerate(kinds):
        if kind is None:
            rows.append((column, OUTSIDE, True, True, _spells_outside(tags, column)))
            continue
        for begins in (True,) if kind[0] in (BEGIN, SINGLE) else (True, False):
            for ends in (True,) if kind[0] in (END, SINGLE) else (True, False):
                meaning = (SINGLE if ends else BEGIN) if begins else (END if ends else INSIDE)
                spelling = next((other, kind[1]) for other in _SPELLINGS[meaning] if (other, kind[1]) in kinds)
                tag = 1 + 4 * labels.index(kind[1]) + meaning
                rows.append((column, tag, begins, ends, spelling == kind))
    rows.extend((column, FRAME, True, True, _spells_outside(tags, column)) for column in range(len(kinds)))
    columns, meanings, begins_, ends_, spells = np.array(rows, dtype=np.int64).T
    goes_on = np.array([[_goes_on(first, second) for second in kinds] for first in kinds])[np.ix_(columns, columns)]
    frames = meanings == FRAME
    goes_on[frames] = goes_on[:, frames] = False
    legal = np.zeros((len(rows) + 1, len(rows) + 1), dtype=bool)
    legal[:-1, :-1] = (goes_on != ends_.astype(bool)[:, None]) & (goes_on != begins_.astype(bool)[None, :])
    legal[-1, :-1] = legal[:-1, -1] = frames
    legal.setflags(write=False)
    return NCRFStates(columns, meanings, spells.astype(bool), legal)


def join_states(states: NCRFStates, other: States) -> Tuple[States, Ints1d]:
    """Pair the states of the tag set with those that rules need if both mean the same tag; those of [CLS] and [SEP]
    stay alone. Gives the pairs, and the number of the NCRFState in each, [n_states]."""
    own, ruled = np.nonzero(states.tags[:, None] == other.scored[None, :])
    frames = np.flatnonzero(states.tags == FRAME)
    own, ruled = np.concatenate([own, frames]), np.concatenate([ruled, np.full(len(frames), FRAME)])
    # The last row and column of `other.legal` are the start and the end of a text: [CLS] and [SEP] take their place.
    legal = np.zeros((len(own) + 1, len(own) + 1), dtype=bool)
    legal[:-1, :-1] = states.legal[np.ix_(own, own)] & other.legal[np.ix_(ruled, ruled)]
    legal[-1, :-1], legal[:-1, -1] = states.legal[-1, own], states.legal[own, -1]
    tags = np.where(ruled == FRAME, FRAME, np.append(other.tags, FRAME)[ruled])
    return States(states.columns[own], tags, legal, ruled, MARGIN), own


def _parse(tag: str) -> Kind:
    prefix, _, label = tag.partition("-")
    if tag == OUTSIDE_TAG:
        return None
    if prefix not in _KINDS or not label:
        raise ValueError(f"The tag {tag!r} is not known: expected O, or B-, I- (M-), E-, S- with a label, as in B-PER.")
    return _KINDS[prefix], label


def _goes_on(first: Kind, second: Kind) -> bool:
    """RETURNS (bool): Whether a span with the first tag continues at the second."""
    if first is None or second is None or first[1] != second[1]:
        return False
    return first[0] in (BEGIN, INSIDE) and second[0] in (INSIDE, END)


def _spells_outside(tags: Sequence[str], column: int) -> bool:
    return OUTSIDE_TAG not in tags or tags.index(OUTSIDE_TAG) == column
