import pytest
import torch

from spacy_lexner.encoders.elmo.clipped_lstm import ClippedLSTM
from spacy_lexner.encoders.elmo.projected_lstm import LSTMState, ProjectedLSTM


def test_the_same_as_the_clipped_layer_without_clips():
    """torch's own LSTM on sequences of different lengths, one of which has ended before."""
    torch.manual_seed(0)
    sizes = [3, 3, 2, 1]
    layer, torch_layer = ClippedLSTM(3, 5, 2).double(), ProjectedLSTM(3, 5, 2).double()
    for d in (0, 1):
        torch_layer.set_direction(
            d, layer.input_weight[d], layer.recurrent_weight[d], layer.bias[d], layer.projection[d]
        )
    x = torch.randn(2, sum(sizes), 3, dtype=torch.float64)
    state = LSTMState(*(torch.randn(2, 4, width, dtype=torch.float64) for width in (2, 5)))
    outputs, final = layer(x, sizes, state)
    torch_outputs, torch_final = torch_layer(x, sizes, state)
    torch.testing.assert_close(torch_outputs, outputs)
    torch.testing.assert_close(torch_final.hidden, final.hidden)
    torch.testing.assert_close(torch_final.cell, final.cell)


@pytest.mark.parametrize("layer_class", [ClippedLSTM, ProjectedLSTM])
def test_initial_weights(layer_class):
    torch.manual_seed(0)
    state = layer_class(30, 50, 20).state_dict()
    biases = [values for name, values in state.items() if "bias" in name]
    assert sum(float(values.sum()) for values in biases) == 100  # the forget gates of both directions
    assert all(0 < float(values.std()) < 0.3 for name, values in state.items() if "bias" not in name)
