import pickle
import random

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch, registry
from spacy.vocab import Vocab

from spacy_lexner.training.batchers import LimitedBatcher, PaddedBatcher, count_tokens, pack_by_length

LENGTHS = st.lists(st.integers(0, 40), max_size=60)


@given(LENGTHS, st.integers(1, 50))
@settings(deadline=None)
def test_pack_by_length(lengths, max_tokens):
    batches = pack_by_length(lengths, max_tokens)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert all(batches)
    longest = [max(lengths[i] for i in batch) for batch in batches]
    assert longest == sorted(longest)
    for batch, length in zip(batches, longest):
        assert len(batch) == 1 or length * len(batch) <= max_tokens


@given(LENGTHS, st.integers(1, 50), st.integers(1, 20), st.booleans(), st.booleans())
@settings(deadline=None)
def test_every_item_exactly_once(lengths, max_tokens, buffer, shuffle, discard):
    items = [(i, "x" * length) for i, length in enumerate(lengths)]
    batcher = PaddedBatcher(
        max_tokens, buffer=buffer, shuffle=shuffle, discard_oversize=discard, get_length=lambda item: len(item[1])
    )
    batches = list(batcher(iter(items)))
    expected = [item for item in items if not discard or len(item[1]) <= max_tokens]
    assert sorted(item for batch in batches for item in batch) == expected
    for batch in batches:
        assert len(batch) == 1 or max(len(item[1]) for item in batch) * len(batch) <= max_tokens


def test_oversize_items_are_alone():
    items = ["x" * 30, "x" * 31, "x" * 2, "x" * 3]
    assert list(PaddedBatcher(10, shuffle=False)(items)) == [["xx", "xxx"], ["x" * 30], ["x" * 31]]
    assert list(PaddedBatcher(10, discard_oversize=True)(items)) == [["xx", "xxx"]]


def test_a_stream_is_read_one_buffer_at_a_time():
    read = []
    stream = (read.append(i) or "x" for i in range(100))
    next(iter(PaddedBatcher(4, buffer=10)(stream)))
    assert len(read) == 10


def test_order_of_batches():
    items = ["x" * (1 + i % 50) for i in range(400)]
    in_order = list(PaddedBatcher(60, shuffle=False)(items))
    assert in_order == sorted(in_order, key=lambda batch: len(batch[-1]))
    seeded = [list(PaddedBatcher(60, seed=seed)(items)) for seed in (1, 1, 2)]
    assert seeded[0] == seeded[1] != seeded[2]
    assert seeded[0] != in_order
    assert sorted(seeded[0]) == sorted(in_order)
    random.seed(5)
    default = list(PaddedBatcher(60)(items))
    random.seed(5)
    assert list(PaddedBatcher(60)(items)) == default != in_order
    batcher = PaddedBatcher(60, seed=1)
    assert list(batcher(items)) != list(batcher(items)), "epochs differ"


def test_lengths_are_tokens_of_the_predicted_doc():
    vocab = Vocab()
    predicted, reference = Doc(vocab, words=list("abcd")), Doc(vocab, words=["ab", "cd"])
    assert count_tokens(Example(predicted, reference)) == count_tokens(predicted) == count_tokens("abcd") == 4


def test_registered_picklable_and_in_a_pipeline():
    config = {"@batchers": "spacy-lexner.batch_by_padded_tokens.v1", "max_tokens": 6, "seed": 0}
    batcher = registry.resolve({"batcher": config})["batcher"]
    nlp = spacy.blank("en")
    texts = ["a b c", "a", "a b", "a b c d e f g"]
    docs = list(nlp.pipe(texts))
    for other in (batcher, pickle.loads(pickle.dumps(batcher))):
        batches = [[doc.text for doc in batch] for batch in other(docs)]
        assert sorted(batches) == [["a", "a b"], ["a b c"], ["a b c d e f g"]]
    done = [doc for batch in batcher(docs) for doc in nlp.pipe(batch, batch_size=len(batch))]
    assert {doc.text for doc in done} == set(texts)


@pytest.mark.parametrize("kwargs", [{"max_tokens": 0}, {"max_tokens": 5, "buffer": 0}])
def test_wrong_values(kwargs):
    with pytest.raises(ValueError, match="is 0; expected at least 1"):
        PaddedBatcher(**kwargs)


def test_an_epoch_ends_after_the_batches_allowed():
    seen = []

    def items():
        for i in range(100):
            seen.append(i)
            yield i

    batcher = LimitedBatcher(lambda stream: minibatch(stream, 4), 3)
    assert list(batcher(items())) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert len(seen) <= 16  # the rest is not read
    assert len(list(batcher(items()))) == 3


def test_no_limit_on_batches_and_short_corpora():
    batcher = LimitedBatcher(PaddedBatcher(4, shuffle=False), 0)
    assert list(batcher(["ab", "cd", "e"])) == [["e", "ab"], ["cd"]]
    assert list(LimitedBatcher(PaddedBatcher(4), 5)([])) == []
    assert pickle.loads(pickle.dumps(batcher)).n_batches == 0


def test_a_negative_limit_is_refused():
    with pytest.raises(ValueError, match=r"n_batches is -1; expected at least 1, or 0"):
        LimitedBatcher(PaddedBatcher(4), -1)
