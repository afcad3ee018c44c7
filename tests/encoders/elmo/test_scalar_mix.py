import pytest
import torch
from tolerance import assert_close

from spacy_lexner.encoders.elmo.model import ScalarMix

N_TERMS = 3 + 6  # layers, and the values of one, for its norm
LAYERS = [torch.arange(6.0).reshape(3, 2), torch.ones(3, 2), torch.tensor([[1.0, -1.0], [2.0, 0.0], [0.0, 4.0]])]


def test_plain_mean_at_first():
    assert_close(ScalarMix(3)(LAYERS), torch.stack(LAYERS).mean(0), N_TERMS)


def test_fixed_weights_are_not_trained():
    mix = ScalarMix(3, weights=[0.0, 1.0, 2.0])
    expected = sum(w * layer for w, layer in zip(torch.softmax(torch.arange(3.0), 0), LAYERS))
    assert_close(mix(LAYERS), expected, N_TERMS)
    assert not any(parameter.requires_grad for parameter in mix.parameters())
    assert all(parameter.requires_grad for parameter in ScalarMix(3).parameters())


@pytest.mark.parametrize("norm, dims", [("batch", (0, 1)), ("token", (1,))])
def test_norm(norm, dims):
    mixed = ScalarMix(1, norm)([LAYERS[2]])
    assert_close(mixed.mean(dims), torch.zeros_like(mixed.mean(dims)), N_TERMS, scale=mixed)
    assert_close(mixed.square().mean(dims), torch.ones_like(mixed.mean(dims)), N_TERMS, scale=mixed.square())
    assert ScalarMix(1, norm)([torch.zeros(0, 2)]).shape == (0, 2)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="norm of the scalar mix is 'layer'"):
        ScalarMix(2, "layer")
    with pytest.raises(ValueError, match="2 weights for 3 layers"):
        ScalarMix(3, weights=[0.0, 1.0])
