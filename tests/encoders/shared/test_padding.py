import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.encoders.shared.padding import batch_by_padding


@given(lengths=st.lists(st.integers(1, 50)), max_tokens=st.integers(1, 200))
def test_batches_hold_each_sequence_once_within_the_budget(lengths, max_tokens):
    lengths = np.array(lengths, "i8")
    batches = batch_by_padding(lengths, max_tokens)
    assert sorted(i for batch in batches for i in batch.tolist()) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= max_tokens
    longest = [int(lengths[batch].max()) for batch in batches]
    assert longest == sorted(longest, reverse=True)
