"""How much the tokens of a Doc attend to its candidate words, as encoders with `attrs["attend"]` report it."""

from itertools import pairwise
from typing import Iterable, List, NamedTuple, Sequence

import numpy as np
from spacy.tokens import Doc


class AttendedWords(NamedTuple):
    """The attention of a Doc's tokens to candidate words, one row per pair (rows of one pair add up); no row means
    none."""

    tokens: np.ndarray  # int64[n], the token that attends
    starts: np.ndarray  # int64[n], first token of the word
    ends: np.ndarray  # int64[n], one past its last
    weights: np.ndarray  # float64[n], from 0 to 1, the mean over layers, heads and the units of the token


def split_by_doc(parts: Iterable[AttendedWords], docs: Sequence[Doc]) -> List[AttendedWords]:
    """Split rows that number the tokens of all Docs consecutively: for each Doc its own rows, by its own tokens."""
    none = np.zeros(0, "i8")
    columns = [np.concatenate(column) for column in zip(AttendedWords(none, none, none, none.astype("f8")), *parts)]
    order = np.argsort(columns[0], kind="stable")
    tokens, starts, ends, weights = (column[order] for column in columns)
    offsets = np.cumsum([0, *(len(doc) for doc in docs)])
    rows = np.searchsorted(tokens, offsets)
    return [
        AttendedWords(tokens[low:high] - offset, starts[low:high] - offset, ends[low:high] - offset, weights[low:high])
        for offset, (low, high) in zip(offsets.tolist(), pairwise(rows.tolist()))
    ]
