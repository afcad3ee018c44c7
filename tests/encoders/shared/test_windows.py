import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.encoders.shared.windows import BATCH_COST, LSTM_BATCH_COST, batch_by_padding, cut_windows, pad_ranges


@st.composite
def settings_and_lengths(draw):
    size = draw(st.integers(1, 20))
    stride = draw(st.integers(1, size))
    return draw(st.lists(st.integers(0, 90), max_size=5)), size, stride


@given(settings_and_lengths())
def test_every_position_is_taken_once_from_the_window_where_it_stands_deepest(case):
    lengths, size, stride = case
    windows = cut_windows(np.array(lengths, "i8"), size, stride)
    owned = np.concatenate([np.zeros(0, "i8"), *(np.arange(*own) for own in zip(windows.own_starts, windows.own_ends))])
    assert owned.tolist() == list(range(sum(lengths)))
    texts = np.repeat(np.arange(len(lengths)), lengths)
    borders = np.cumsum([0, *lengths])
    for start, end, own_start, own_end in zip(*windows):
        assert own_start < own_end or stride * 2 < size  # where more than two windows overlap, one may own nothing
        assert start <= own_start and own_end <= end and end - start <= size
        text = texts[start]
        assert (texts[start:end] == text).all()
        assert end - start == min(size, lengths[text])
        for position in range(own_start, own_end):
            assert depth(position, start, end, borders[text : text + 2]) == max(
                depth(position, *other, borders[text : text + 2])
                for other in zip(windows.starts, windows.ends)
                if other[0] <= position < other[1]
            )


def depth(position, start, end, text):
    """The distance to the nearer end of a window, where that is not also the end of the text."""
    left = np.inf if start == text[0] else position - start
    right = np.inf if end == text[1] else end - 1 - position
    return min(left, right)


@pytest.mark.parametrize(("length", "n_windows"), [(0, 0), (9, 1), (10, 1), (11, 2), (30, 4)])
def test_number_of_windows(length, n_windows):
    assert len(cut_windows(np.array([length]), 10, 7).starts) == n_windows


def test_the_last_window_is_moved_to_the_left():
    windows = cut_windows(np.array([3, 11]), 10, 7)
    assert windows.starts.tolist() == [0, 3, 4]
    assert windows.ends.tolist() == [3, 13, 14]
    assert windows.own_starts.tolist() == [0, 3, 8]


@pytest.mark.parametrize("stride", [0, 11])
def test_stride_out_of_range(stride):
    with pytest.raises(
        ValueError, match=f"stride = {stride} is out of range: windows of 10 need a stride from 1 to 10"
    ):
        cut_windows(np.array([5]), 10, stride)


@given(lengths=st.lists(st.integers(1, 50)), max_tokens=st.integers(1, 200))
def test_batches_hold_each_sequence_once_within_the_budget(lengths, max_tokens):
    lengths = np.array(lengths, "i8")
    batches = batch_by_padding(lengths, max_tokens)
    assert sorted(i for batch in batches for i in batch.tolist()) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= max_tokens
    longest = [int(lengths[batch].max()) for batch in batches]
    assert longest == sorted(longest, reverse=True)


@given(
    lengths=st.lists(st.integers(0, 300), min_size=1, max_size=6),
    max_tokens=st.integers(1, 800),
    batch_cost=st.sampled_from([BATCH_COST, LSTM_BATCH_COST]),
)
def test_no_other_batches_of_similar_sequences_cost_less(lengths, max_tokens, batch_cost):
    lengths = np.array(lengths, "i8")

    def cost(batches):
        return sum(batch_cost + len(batch) * max(1, *batch) for batch in batches)

    def cuts(order):
        for size in range(1, len(order) + 1):
            if size == 1 or size * max(1, order[0]) <= max_tokens:
                yield from ([order[:size], *rest] for rest in (cuts(order[size:]) if order[size:] else [[]]))

    found = [lengths[batch].tolist() for batch in batch_by_padding(lengths, max_tokens, batch_cost)]
    assert cost(found) == min(map(cost, cuts(sorted(lengths.tolist(), reverse=True))))


def test_windows_as_rows_of_equal_length():
    places, inside, own = cut_windows(np.array([3, 2]), 2, 1).pad()
    assert places.tolist() == [[0, 1], [1, 2], [3, 4]] and inside.all()
    assert own.tolist() == [[True, False], [True, True], [True, True]]
    places, inside = pad_ranges(np.array([5, 1]), np.array([1, 3]))
    assert places.tolist() == [[5, 0, 0], [1, 2, 3]] and inside.tolist() == [[True, False, False], [True, True, True]]
    assert pad_ranges(np.zeros(0, "i8"), np.zeros(0, "i8"))[0].shape == (0, 0)
