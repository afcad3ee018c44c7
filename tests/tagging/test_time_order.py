import torch
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.tagging.time_order import steps, time_order

LENGTHS = st.lists(st.integers(0, 6), max_size=6)


@given(LENGTHS)
def test_tokens_are_ordered_by_time_and_rank(lengths):
    order = time_order(lengths, torch.device("cpu"))
    ranked = sorted((i for i, length in enumerate(lengths) if length), key=lambda i: -lengths[i])
    assert order.ranked.tolist() == ranked
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    places = [(t, rank) for t in range(max(lengths, default=0)) for rank, i in enumerate(ranked) if t < lengths[i]]
    assert order.token.tolist() == [starts[ranked[rank]] + t for t, rank in places]
    assert order.place[order.token].tolist() == list(range(sum(lengths)))
    assert order.last.tolist() == [places.index((lengths[i] - 1, rank)) for rank, i in enumerate(ranked)]


@given(LENGTHS)
def test_steps_lead_from_each_token_to_the_next(lengths):
    order = time_order(lengths, torch.device("cpu"))
    moves = list(steps(order.sizes))
    for here, before in moves:
        tokens = order.token[here]
        assert tokens.tolist() == (order.token[before][: len(tokens)] + 1).tolist()
    assert sum(here.stop - here.start for here, _ in moves) == sum(max(0, length - 1) for length in lengths)
    assert list(steps(order.sizes, backwards=True)) == moves[::-1]
