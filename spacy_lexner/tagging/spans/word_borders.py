"""Segmentation as borders between tokens, and as BIOES tags.

A Doc of n tokens has n + 1 borders, before each token and after the last; int8[n + 1] says which are FREE, BORDER or
JOINED. Each token has one kind of tag for each state of the borders at its two sides, so the tags that tokens may have
can express exactly what is known of the borders, and leave at least one path.
"""

import re

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ...candidates.storage import token_borders
from ...candidates.unit_docs import is_space
from ...lexicon.unbreakable import is_unbreakable
from .tag_scheme import BEGIN, END, SINGLE, Bools2d, Ints1d

Borders = NDArray[np.int8]

FREE, BORDER, JOINED = range(3)
UNKNOWN = -1  # in place of a label

_KINDS = np.arange(4)
_OPENS, _CLOSES = np.isin(_KINDS, [BEGIN, SINGLE]), np.isin(_KINDS, [END, SINGLE])
_BEFORE = np.stack([np.ones(4, bool), _OPENS, ~_OPENS])
_AFTER = np.stack([np.ones(4, bool), _CLOSES, ~_CLOSES])

HAN = "\u2e80-\u2fdf\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HAN_WORD = f"[{HAN}].*[{HAN}]"  # compiled when it is first searched for, which takes milliseconds


def border_tags(borders: Borders, labels: Ints1d, is_space: NDArray[np.bool_], n_labels: int) -> Bools2d:
    """The tags that agree with what is known, [n_tokens, 1 + 4 * n_labels], in the order of TagScheme. White space
    (`is_space`, [n_tokens]) is outside of words, and its borders must not be JOINED; every other token is in a word.
    `borders` is [n_tokens + 1]; `labels`, [n_tokens], the label of each token's word, or UNKNOWN, the same for tokens
    that are JOINED."""
    kinds = _BEFORE[borders[:-1]] & _AFTER[borders[1:]]
    same = (labels[:, None] == UNKNOWN) | (labels[:, None] == np.arange(n_labels))
    allowed = np.zeros((len(labels), 1 + 4 * n_labels), dtype=bool)
    allowed[:, 1:] = (same[:, :, None] & kinds[:, None, :]).reshape(len(labels), 4 * n_labels)
    allowed[is_space] = False
    allowed[is_space, 0] = True
    return allowed


def word_starts(path: Ints1d) -> Ints1d:
    """The first tokens of the words that a path of tags spells, and the tokens of white space."""
    kinds = (path - 1) % 4
    return np.flatnonzero((path == 0) | (kinds == BEGIN) | (kinds == SINGLE))


def fixed_borders(doc: Doc) -> Borders:
    """The borders, [n_tokens + 1], that are known in any Doc: words do not reach over white space, Latin words and
    numbers are not cut, and a Doc that is in words keeps these."""
    if in_words(doc):
        return np.full(len(doc) + 1, BORDER, dtype=np.int8)
    starts, ends = token_borders(doc)
    borders = np.full(len(doc) + 1, FREE, dtype=np.int8)
    borders[:-1][is_unbreakable(doc.text, starts)] = JOINED
    space = is_space(doc)
    borders[:-1][space] = BORDER
    borders[1:][space] = BORDER
    borders[1:-1][ends[:-1] != starts[1:]] = BORDER
    borders[[0, -1]] = BORDER
    return borders


def in_words(doc: Doc) -> bool:
    """RETURNS (bool): Whether a Doc is already segmented, that is, has a token with two or more Han characters."""
    starts, ends = token_borders(doc)
    longer = ends - starts > 1
    text = doc.text
    return any(re.search(HAN_WORD, text[a:b]) for a, b in zip(starts[longer].tolist(), ends[longer].tolist()))
