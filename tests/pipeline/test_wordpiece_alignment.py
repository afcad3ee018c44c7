"""The alignment changes only if it belongs to the tokens of the Doc."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from thinc.api import Ragged

from spacy_lexner.pipeline.wordpiece_alignment import TRANSFORMER_DATA, change_alignment


class Data(NamedTuple):
    wordpieces: Any
    model_output: Any
    align: Any


@pytest.mark.parametrize(("n_tokens", "expected"), [(2, [3]), (3, [1, 2])])
def test_an_alignment_of_as_many_tokens(n_tokens, expected):
    align = Ragged(np.arange(3), np.array([1, 2], "i4"))
    user_data = {TRANSFORMER_DATA: Data("pieces", "output", align)}
    change_alignment(user_data, n_tokens, lambda old: Ragged(old.dataXd, np.array([old.lengths.sum()], "i4")))
    data = user_data[TRANSFORMER_DATA]
    assert data[:2] == ("pieces", "output") and data.align.lengths.tolist() == expected


@pytest.mark.parametrize("user_data", [{}, {TRANSFORMER_DATA: None}, {TRANSFORMER_DATA: "no alignment"}])
def test_without_one_nothing_changes(user_data):
    before = dict(user_data)
    change_alignment(user_data, 2, lambda old: old)
    assert user_data == before
