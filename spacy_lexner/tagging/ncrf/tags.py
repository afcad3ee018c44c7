"""The tags of an NCRF++ tagger (Yang and Zhang 2018), as the code of LEBERT's authors has them: two of them are the
start and the stop, any tag may follow any other, and what spans the tags mean is read off afterwards.

Reading them is seqeval's business there: a span goes on from one token to the next if the first is at the beginning or
inside of a span, the second inside or at the end of one, and both have the same label. Here each tag is refined to
states that also know whether a span begins and whether one ends at the token. A path of tags corresponds to exactly one
path of states, which says by itself what spans it means; so best paths and sums over paths of the original's tags are
those of these states.
"""

from functools import lru_cache
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ..spans.tag_scheme import BEGIN, END, INSIDE, OUTSIDE, SINGLE, Bools2d, Ints1d

N_EXTRA = 2  # the start and the stop stand behind all other tags
OUTSIDE_TAG = "O"
FRAME = -1  # what the tags of [CLS] and [SEP] are in terms of spans
_KINDS = {"B": BEGIN, "I": INSIDE, "M": INSIDE, "E": END, "S": SINGLE}
# In what way the annotation is spelled where a tag set has several, or lacks the first.
_SPELLINGS = {BEGIN: (BEGIN, INSIDE), INSIDE: (INSIDE,), END: (END, INSIDE), SINGLE: (SINGLE, BEGIN, END, INSIDE)}


class NCRFStates(NamedTuple):
    """Tags refined to states: those of tokens, then those of [CLS] and [SEP].

    columns (Ints1d): The tag whose scores a state has, [n_states].
    tags (Ints1d): What it means in the order of TagScheme, [n_states]; FRAME for those of [CLS] and [SEP].
    spells (NDArray[bool]): Whether annotation is spelled by it, [n_states].
    legal (Bools2d): The moves, [n_states + 1, n_states + 1], as in `TagScheme.legal`.
    """

    columns: Ints1d
    tags: Ints1d
    spells: np.ndarray
    legal: Bools2d


def labels_of(tags: Sequence[str]) -> Tuple[str, ...]:
    """List the labels of a tag set.

    tags (Sequence[str]): The tags, without start and stop.
    RETURNS (Tuple[str, ...]): The labels, sorted. Raises ValueError where a tag is none of O, B-X, I-X or M-X, E-X and
        S-X or stands twice, and where there is no label at all.
    """
    kinds = [_parse(tag) for tag in tags]
    for i, kind in enumerate(kinds):
        if kind in kinds[:i]:
            raise ValueError(
                f"The tags {tags[kinds.index(kind)]!r} and {tags[i]!r} are the same: expected different ones."
            )
    labels = sorted({kind[1] for kind in kinds if kind is not None})
    if not labels:
        raise ValueError(f"The tags {', '.join(tags) or '(none)'} have no label: expected some like B-PER and E-PER.")
    return tuple(labels)


@lru_cache(maxsize=16)
def ncrf_states(tags: Tuple[str, ...]) -> NCRFStates:
    """RETURNS (NCRFStates): The states of a tag set. Raises ValueError where it is none (see `labels_of`)."""
    labels = {label: i for i, label in enumerate(labels_of(tags))}
    kinds = [_parse(tag) for tag in tags] + [None] * N_EXTRA
    rows: List[Tuple[int, int, bool, bool]] = []  # column, tag, whether a span begins, whether one ends
    for column, kind in enumerate(kinds):
        if kind is None:
            rows.append((column, OUTSIDE, True, True))
            continue
        for begins in (True,) if kind[0] in (BEGIN, SINGLE) else (True, False):
            for ends in (True,) if kind[0] in (END, SINGLE) else (True, False):
                meaning = {(1, 1): SINGLE, (1, 0): BEGIN, (0, 1): END, (0, 0): INSIDE}[begins, ends]
                rows.append((column, 1 + 4 * labels[kind[1]] + meaning, begins, ends))
    rows.extend((column, FRAME, True, True) for column in range(len(kinds)))
    columns, meanings, begins_, ends_ = np.array(rows, dtype=np.int64).T
    goes_on = _continues(kinds)[np.ix_(columns, columns)]
    frames = meanings == FRAME
    goes_on[frames] = goes_on[:, frames] = False
    legal = np.zeros((len(rows) + 1, len(rows) + 1), dtype=bool)
    legal[:-1, :-1] = (goes_on != ends_.astype(bool)[:, None]) & (goes_on != begins_.astype(bool)[None, :])
    legal[-1, :-1] = legal[:-1, -1] = frames
    legal.setflags(write=False)
    return NCRFStates(columns, meanings, _spelling(tags, kinds, columns, meanings), legal)


def _parse(tag: str) -> Optional[Tuple[int, str]]:
    prefix, _, label = tag.partition("-")
    if tag == OUTSIDE_TAG:
        return None
    if prefix not in _KINDS or not label:
        raise ValueError(f"The tag {tag!r} is not known: expected O, or B-, I- (M-), E-, S- with a label, as in B-PER.")
    return _KINDS[prefix], label


def _continues(kinds: Sequence[Optional[Tuple[int, str]]]) -> Bools2d:
    """RETURNS (Bools2d): Whether a span that has the first tag goes on at the second, [n_tags, n_tags]."""
    goes_on = np.zeros((len(kinds), len(kinds)), dtype=bool)
    for i, first in enumerate(kinds):
        for j, second in enumerate(kinds):
            if first is not None and second is not None and first[1] == second[1]:
                goes_on[i, j] = first[0] in (BEGIN, INSIDE) and second[0] in (INSIDE, END)
    return goes_on


def _spelling(
    tags: Sequence[str], kinds: Sequence[Optional[Tuple[int, str]]], columns: Ints1d, meanings: Ints1d
) -> np.ndarray:
    by_kind: Dict[Optional[Tuple[int, str]], int] = {kind: i for i, kind in reversed(list(enumerate(kinds)))}
    labels, spells = labels_of(tags), np.zeros(len(columns), dtype=bool)
    for i, (column, meaning) in enumerate(zip(columns.tolist(), meanings.tolist())):
        if meaning in (OUTSIDE, FRAME):
            spells[i] = OUTSIDE_TAG not in tags or tags.index(OUTSIDE_TAG) == column
        else:
            label = labels[(meaning - 1) // 4]
            ways = (by_kind.get((kind, label)) for kind in _SPELLINGS[(meaning - 1) % 4])
            spells[i] = next((way for way in ways if way is not None), None) == column
    return spells
