import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerance import tolerance

from spacy_lexner.encoders.elmo.lstm import ClippedLSTM, LSTMState, ProjectedLSTM

INPUT, CELL, PROJECTION = 3, 5, 2
SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=6).map(lambda sizes: sorted(sizes, reverse=True))


def naive(layer, x, sizes, state):
    """The equations, one sequence and one direction at a time, through autograd."""
    cell_clip, projection_clip = layer.cell_clip, layer.projection_clip
    outputs = torch.zeros(2, sum(sizes), layer.projection.shape[1], dtype=x.dtype)
    hidden, cell = state.hidden.clone(), state.cell.clone()
    start = 0
    for size in sizes:
        for d in range(2):
            for j in range(size):
                gates = layer.input_weight[d] @ x[d, start + j] + layer.recurrent_weight[d] @ hidden[d, j].clone()
                i, f, g, o = (gates + layer.bias[d]).chunk(4)
                c = f.sigmoid() * cell[d, j].clone() + i.sigmoid() * g.tanh()
                c = c if cell_clip is None else c.clamp(-cell_clip, cell_clip)
                h = layer.projection[d] @ (o.sigmoid() * c.tanh())
                h = h if projection_clip is None else h.clamp(-projection_clip, projection_clip)
                hidden[d, j], cell[d, j], outputs[d, start + j] = h, c, h
        start += size
    return outputs, LSTMState(hidden, cell)


def make_case(sizes, clips, seed=0, n_sequences=None):
    torch.manual_seed(seed)
    layer = ClippedLSTM(INPUT, CELL, PROJECTION, *clips).double()
    for parameter in layer.parameters():
        parameter.data.mul_(3)  # so that values are clipped
    n_sequences = n_sequences or sizes[0]
    x = torch.randn(2, sum(sizes), INPUT, dtype=torch.float64, requires_grad=True)
    hidden = torch.randn(2, n_sequences, PROJECTION, dtype=torch.float64, requires_grad=True)
    cell = torch.randn(2, n_sequences, CELL, dtype=torch.float64, requires_grad=True)
    return layer, x, LSTMState(hidden, cell)


def outcome(run, layer, x, sizes, state):
    """Outputs and all gradients of a random weighting of outputs and final states."""
    outputs, final = run(x, sizes, state)
    torch.manual_seed(1)
    loss = sum((values * torch.randn_like(values)).sum() for values in (outputs, *final))
    gradients = torch.autograd.grad(loss, [x, *state, *layer.parameters()])
    return [outputs, *final, *gradients]


@settings(deadline=None, max_examples=30)
@given(SIZES, st.sampled_from([(None, None), (0.5, None), (None, 0.4), (0.5, 0.4)]), st.integers(0, 99))
def test_clipped_lstm_equals_the_equations(sizes, clips, seed):
    layer, x, state = make_case(sizes, clips, seed, n_sequences=sizes[0] + 1)  # one sequence has ended before
    ours = outcome(layer, layer, x, sizes, state)
    oracle = outcome(lambda *args: naive(layer, *args), layer, x, sizes, state)
    for value, expected in zip(ours, oracle):
        torch.testing.assert_close(value, expected)


def test_gradients_are_checked_numerically():
    layer, x, (hidden, cell) = make_case([3, 2, 1], (2.0, 2.0), seed=3)

    def run(x, hidden, cell, *weights):
        outputs, state = torch.func.functional_call(
            layer, dict(zip(names, weights)), (x, [3, 2, 1], LSTMState(hidden, cell))
        )
        return outputs, *state

    names, weights = zip(*layer.named_parameters())
    assert torch.autograd.gradcheck(run, (x, hidden, cell, *weights))


def test_under_autocast_the_recurrence_keeps_full_precision():
    layer, x, state = make_case([3, 2, 1], (0.5, 0.4))
    layer.float()
    full = [values.detach().float().requires_grad_() for values in (x, *state)]
    half = [values.detach().bfloat16().requires_grad_() for values in full]
    oracle = outcome(layer, layer, full[0], [3, 2, 1], LSTMState(*full[1:]))
    with torch.autocast("cpu", torch.bfloat16):
        ours = outcome(layer, layer, half[0], [3, 2, 1], LSTMState(*half[1:]))
    for value, expected in zip(ours, oracle):
        # The input, the state and their gradients are rounded, nothing else.
        assert (value.float() - expected).norm() <= tolerance(3, expected.norm(), "bfloat16")
    outputs, gradients = ours[0], ours[3:]
    assert outputs.dtype == torch.float32
    assert [gradient.dtype for gradient in gradients] == [torch.bfloat16] * 3 + [torch.float32] * 4


def test_the_same_as_the_clipped_layer_without_clips():
    """torch's own LSTM on sequences of different lengths, one of which has ended before."""
    torch.manual_seed(0)
    sizes = [3, 3, 2, 1]
    layer, torch_layer = ClippedLSTM(3, 5, 2).double(), ProjectedLSTM(3, 5, 2).double()
    torch_layer.load_clipped(layer.state_dict())
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
