import torch
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.tagging.crf_layout import arrange, steps

LENGTHS = st.lists(st.integers(0, 6), max_size=6)


@given(LENGTHS)
def test_tokens_stand_by_time_and_rank(lengths):
    layout = arrange(lengths, torch.device("cpu"))
    ranked = sorted((i for i, length in enumerate(lengths) if length), key=lambda i: -lengths[i])
    assert layout.ranked.tolist() == ranked
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    places = [(t, rank) for t in range(max(lengths, default=0)) for rank, i in enumerate(ranked) if t < lengths[i]]
    assert layout.order.tolist() == [starts[ranked[rank]] + t for t, rank in places]
    assert layout.place[layout.order].tolist() == list(range(sum(lengths)))
    assert layout.rank.tolist() == [rank for _, rank in places]
    assert layout.last.tolist() == [places.index((lengths[i] - 1, rank)) for rank, i in enumerate(ranked)]


@given(LENGTHS)
def test_steps_lead_from_each_token_to_the_next(lengths):
    layout = arrange(lengths, torch.device("cpu"))
    moves = list(steps(layout.sizes))
    for here, before in moves:
        tokens = layout.order[here]
        assert tokens.tolist() == (layout.order[before][: len(tokens)] + 1).tolist()
    assert sum(here.stop - here.start for here, _ in moves) == sum(max(0, length - 1) for length in lengths)
    assert list(steps(layout.sizes, backwards=True)) == moves[::-1]
