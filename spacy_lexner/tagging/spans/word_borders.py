"""Segmentation as borders between tokens, and as BIOES tags.

A Doc of n tokens has n + 1 borders, before each token and behind the last. What is known of them is int8[n + 1], of
FREE, BORDER and JOINED. Each token has one kind of tag for each state of the borders at its two sides, so that whatever
is known of borders can be said exactly by the tags that tokens may have, and leaves at least one path.
"""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ...candidates.storage import token_borders
from .tag_scheme import BEGIN, END, SINGLE, Bools2d, Ints1d
from .whole_runs import find_whole_runs

Borders = NDArray[np.int8]

FREE, BORDER, JOINED = range(3)
UNKNOWN = -1  # a label

_KINDS = np.arange(4)
_OPENS, _CLOSES = np.isin(_KINDS, [BEGIN, SINGLE]), np.isin(_KINDS, [END, SINGLE])
_BEFORE = np.stack([np.ones(4, bool), _OPENS, ~_OPENS])
_BEHIND = np.stack([np.ones(4, bool), _CLOSES, ~_CLOSES])

HAN = "\u2e80-\u2fdf\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HAN_WORD = re.compile(f"[{HAN}].*[{HAN}]")


def border_tags(borders: Borders, labels: Ints1d, is_space: NDArray[np.bool_], n_labels: int) -> Bools2d:
    """The tags that agree with what is known. White space is outside of words; every other token is in one.

    borders (Borders): The borders, [n_tokens + 1].
    labels (Ints1d): The label of each token's word, or UNKNOWN, [n_tokens]; the same for all tokens that are JOINED.
    is_space (NDArray[bool]): Which tokens are white space, [n_tokens]; their borders must not be JOINED.
    n_labels (int): Number of labels.
    RETURNS (Bools2d): [n_tokens, 1 + 4 * n_labels], in the order of TagScheme.
    """
    kinds = _BEFORE[borders[:-1]] & _BEHIND[borders[1:]]
    same = (labels[:, None] == UNKNOWN) | (labels[:, None] == np.arange(n_labels))
    allowed = np.zeros((len(labels), 1 + 4 * n_labels), dtype=bool)
    allowed[:, 1:] = (same[:, :, None] & kinds[:, None, :]).reshape(len(labels), 4 * n_labels)
    allowed[is_space] = False
    allowed[is_space, 0] = True
    return allowed


def word_starts(path: Ints1d) -> Ints1d:
    """RETURNS (Ints1d): The first tokens of the words and of white space that a path of tags spells."""
    kinds = (path - 1) % 4
    return np.flatnonzero((path == 0) | (kinds == BEGIN) | (kinds == SINGLE))


def rule_borders(doc: Doc) -> Borders:
    """The borders that are known in any text: words do not reach over white space, Latin words and numbers are not cut
    (see `whole_runs`), and a Doc in words has these.

    doc (Doc): The Doc.
    RETURNS (Borders): The borders, [n_tokens + 1].
    """
    begins, stops = token_borders(doc)
    if in_words(doc):
        return np.full(len(doc) + 1, BORDER, dtype=np.int8)
    borders = np.full(len(doc) + 1, FREE, dtype=np.int8)
    starts, ends = find_whole_runs(doc.text)
    if len(starts):
        run = np.searchsorted(starts, begins, "left") - 1  # the last run that begins before the token
        borders[:-1][(run >= 0) & (begins < ends[run])] = JOINED
    space = is_space(doc)
    borders[:-1][space] = BORDER
    borders[1:][space] = BORDER
    borders[1:-1][stops[:-1] != begins[1:]] = BORDER
    borders[[0, -1]] = BORDER
    return borders


def in_words(doc: Doc) -> bool:
    """RETURNS (bool): Whether a Doc is in words: one of its tokens holds two Han characters or more."""
    begins, stops = token_borders(doc)
    longer = np.flatnonzero(stops - begins > 1)
    text = doc.text
    spans = zip(begins[longer].tolist(), stops[longer].tolist())
    return any(HAN_WORD.search(text, begin, stop) for begin, stop in spans)


def is_space(doc: Doc) -> Any:
    """RETURNS (NDArray[bool]): Which tokens are white space."""
    return doc.to_array("IS_SPACE").astype(bool)
