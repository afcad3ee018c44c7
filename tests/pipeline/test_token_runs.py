from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.pipeline.token_runs import find_runs


@given(st.lists(st.booleans(), max_size=20))
def test_runs_cover_what_is_true_and_do_not_touch(mask):
    runs = find_runs(np.array(mask, bool))
    assert [i for start, end in runs for i in range(start, end)] == [i for i, value in enumerate(mask) if value]
    assert all(start < end for start, end in runs) and all(a[1] < b[0] for a, b in pairwise(runs))
