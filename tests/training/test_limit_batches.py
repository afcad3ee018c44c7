import pickle

import pytest
from spacy.util import minibatch

from spacy_lexner.training.batcher import create_padded_batcher
from spacy_lexner.training.limit_batches import create_limited_batcher


def test_an_epoch_ends_after_the_batches_allowed():
    seen = []

    def items():
        for i in range(100):
            seen.append(i)
            yield i

    batcher = create_limited_batcher(lambda stream: minibatch(stream, 4), 3)
    assert list(batcher(items())) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert len(seen) <= 16  # the rest is not read
    assert len(list(batcher(items()))) == 3


def test_no_limit_and_short_corpora():
    batcher = create_limited_batcher(create_padded_batcher(4, shuffle=False), 0)
    assert list(batcher(["ab", "cd", "e"])) == [["e", "ab"], ["cd"]]
    assert list(create_limited_batcher(create_padded_batcher(4), 5)([])) == []
    assert pickle.loads(pickle.dumps(batcher)).n_batches == 0


def test_a_negative_limit_is_refused():
    with pytest.raises(ValueError, match="n_batches is -1"):
        create_limited_batcher(create_padded_batcher(4), -1)
