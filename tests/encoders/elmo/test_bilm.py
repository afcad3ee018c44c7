"""The language model by its definition. Parity with the original is in test_model."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lexner.encoders.elmo.bilm import BiLM
from spacy_lexner.encoders.elmo.lstm import ClippedLSTM, LSTMState, ProjectedLSTM


def make_bilm(**options):
    torch.manual_seed(0)
    return BiLM(3, 5, 2, **{"cell_clip": 2.0, "projection_clip": 2.0, **options}).double()


def one_sequence(bilm, words):
    """A single sequence, one layer and one direction at a time."""
    layers = [torch.cat([words, words], dim=1)]
    current = torch.stack([words, words.flip(0)])
    for number, layer in enumerate(bilm.layers):
        zeros = LSTMState(words.new_zeros(2, 1, 3), words.new_zeros(2, 1, 5))
        output, _ = layer(current, [1] * len(words), zeros)
        current = output + current if number and bilm.skip_connections else output
        layers.append(torch.cat([current[0], current[1].flip(0)], dim=1))
    return layers


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=5),
    st.integers(1, 12),
    st.booleans(),
    st.sampled_from([2.0, None]),
)
def test_a_batch_is_its_sequences(lengths, block_rows, skip, clip):
    bilm = make_bilm(block_rows=block_rows, skip_connections=skip, cell_clip=clip, projection_clip=clip)
    words = torch.randn(sum(lengths), 3, dtype=torch.float64)
    layers = bilm(words, torch.tensor(lengths))
    expected = [one_sequence(bilm, part) for part in words.split(lengths)]
    for number, layer in enumerate(layers):
        torch.testing.assert_close(layer, torch.cat([one[number] for one in expected]))


def test_rows_of_repeated_words():
    bilm, words = make_bilm(), torch.randn(4, 3, dtype=torch.float64)
    rows, lengths = torch.tensor([0, 2, 2, 1, 3, 0]), torch.tensor([4, 2])
    for by_rows, spelt in zip(bilm(words, lengths, rows), bilm(words[rows], lengths)):
        assert torch.equal(by_rows, spelt)


@pytest.mark.parametrize(
    "options, layer",
    [
        ({}, ClippedLSTM),
        ({"cell_clip": None}, ClippedLSTM),
        ({"cell_clip": None, "projection_clip": None}, ProjectedLSTM),
    ],
)
def test_torch_s_own_lstm_where_nothing_is_clipped(options, layer):
    assert all(type(part) is layer for part in make_bilm(**options).layers)


def test_a_projection_as_wide_as_the_cell():
    """torch's LSTM cannot do that."""
    bilm = BiLM(5, 5, 1)
    assert type(bilm.layers[0]) is ClippedLSTM
    assert bilm(torch.randn(2, 5), torch.tensor([2]))[1].shape == (2, 10)


def test_state_of_rows_that_come_and_go():
    """Each row of a batch continues from its state; rows absent for a while keep theirs."""
    bilm = make_bilm(stateful=True)
    first, second = torch.randn(7, 3, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64)
    bilm(first, torch.tensor([2, 5]))
    bilm(second[:3], torch.tensor([3]))
    both = bilm(torch.cat([second[3:], second[:2]]), torch.tensor([1, 2]))
    alone = make_bilm(stateful=True)
    alone(first[2:], torch.tensor([5]))
    expected = alone(second[:2], torch.tensor([2]))
    torch.testing.assert_close(both[2][1:], expected[2])
    bilm.state = None
    torch.testing.assert_close(bilm(first, torch.tensor([2, 5]))[2], make_bilm()(first, torch.tensor([2, 5]))[2])


def test_dropout_in_training_alone():
    bilm, words = make_bilm(dropout=0.5), torch.randn(6, 3, dtype=torch.float64)
    lengths = torch.tensor([6])
    assert not torch.equal(bilm(words, lengths)[1], bilm(words, lengths)[1])
    bilm.eval()
    assert torch.equal(bilm(words, lengths)[1], bilm(words, lengths)[1])
