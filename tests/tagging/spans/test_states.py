import itertools

from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.tagging.spans.states import CHAIN, EXIT, FORCED, NO_COLOUR, Layout, Slots, build_states
from spacy_lexner.tagging.spans.tag_scheme import BEGIN, END, INSIDE, SINGLE, legal_moves


def test_without_groups_states_are_tags():
    states = build_states(Layout(9, 1, ()))
    assert states.scored.tolist() == states.tags.tolist() == list(range(9))
    assert (states.legal == legal_moves(9)).all()


def test_moves():
    """Two colours, a chain in the second, a forced span that leads to the second, one of an unknown label to none."""
    layout = Layout(5, 2, (((CHAIN, 0, 1), 1), ((FORCED, 0, 1), 1), ((FORCED, 1, NO_COLOUR), 1)))
    states = build_states(layout)
    chain, forced, unknown = (layout.first_state(key, 0) for key, _ in layout.sizes)
    (o, b, i, e, s), second = range(5), 5
    opening = {chain + BEGIN, *(start + kind for start in (forced, unknown) for kind in (BEGIN, SINGLE))}

    def after(state):
        return set(states.legal[state].nonzero()[0].tolist())

    end = layout.n_states
    start_states = {forced + BEGIN, forced + SINGLE, unknown + BEGIN, unknown + SINGLE}
    assert after(-1) == {o, b, s} | start_states
    assert after(o) == after(e) == after(s) == {o, b, s, end} | start_states
    assert after(second + e) == after(chain + END) == {second + tag for tag in (o, b, s)} | opening | {end}
    assert after(forced + END) == after(forced + SINGLE) == after(second + o)
    assert after(unknown + END) == start_states | {end}
    assert after(second + b) == after(second + i) == after(chain + EXIT) == {second + i, second + e}
    assert after(chain + BEGIN) == after(chain + INSIDE) == {chain + INSIDE, chain + END, chain + EXIT}
    assert after(forced + BEGIN) == {forced + INSIDE, forced + END}
    assert states.tags[chain : chain + 4].tolist() == [b, i, e, i]
    assert states.scored[unknown : unknown + 4].tolist() == [0] * 4
    assert states.tags[unknown : unknown + 4].tolist() == [5, 6, 7, 8]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6)), max_size=15))
def test_slots(groups):
    slots, key = Slots(), (CHAIN, 0, 0)
    taken = [(start, start + n, slots.take(key, start, start + n)) for start, n in sorted(groups)]
    for (start, stop, slot), (other, other_stop, other_slot) in itertools.combinations(taken, 2):
        assert slot != other_slot or stop <= other or other_stop <= start
    most = max((sum(start <= token < stop for start, stop, _ in taken) for token in range(30)), default=0)
    assert slots.sizes[key] == most
