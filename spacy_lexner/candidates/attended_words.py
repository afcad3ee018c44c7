"""How much the tokens of a Doc attend to its candidate words: what encoders tell on request, as `attrs["attend"]`."""

from itertools import pairwise
from typing import Iterable, List, NamedTuple, Sequence

import numpy as np
from spacy.tokens import Doc


class AttendedWords(NamedTuple):
    """The attention of the tokens of a Doc to candidate words, one row for each pair; what is not there is 0.

    tokens (numpy.ndarray): int64[n], the token that attends. A pair may stand there several times: weights add up.
    firsts, lasts (numpy.ndarray): int64[n], first and last token of the word.
    weights (numpy.ndarray): float64[n], from 0 to 1, in the mean over layers, heads and the pieces of the token.
    """

    tokens: np.ndarray
    firsts: np.ndarray
    lasts: np.ndarray
    weights: np.ndarray


def split_by_doc(parts: Iterable[AttendedWords], docs: Sequence[Doc]) -> List[AttendedWords]:
    """Give each Doc its own rows.

    parts (Iterable[AttendedWords]): Rows with the tokens of all Docs, one Doc after the other.
    docs (Sequence[Doc]): The Docs.
    RETURNS (List[AttendedWords]): The rows of each, with its own tokens.
    """
    none = np.zeros(0, "i8")
    columns = [np.concatenate(column) for column in zip(AttendedWords(none, none, none, none.astype("f8")), *parts)]
    order = np.argsort(columns[0], kind="stable")
    tokens, firsts, lasts, weights = (column[order] for column in columns)
    borders = np.cumsum([0, *(len(doc) for doc in docs)])
    ends = np.searchsorted(tokens, borders)
    return [
        AttendedWords(tokens[low:high] - start, firsts[low:high] - start, lasts[low:high] - start, weights[low:high])
        for start, (low, high) in zip(borders.tolist(), pairwise(ends.tolist()))
    ]
