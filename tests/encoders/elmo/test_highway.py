import torch

from spacy_lexner.encoders.elmo.highway import Highway


def test_a_layer_by_its_equation():
    torch.manual_seed(0)
    highway, x = Highway(5, 2), torch.randn(3, 5)
    expected = x
    for layer in highway.layers:
        transformed = torch.relu(expected @ layer.weight[:5].T + layer.bias[:5])
        gate = torch.sigmoid(expected @ layer.weight[5:].T + layer.bias[5:])
        expected = gate * expected + (1 - gate) * transformed
    torch.testing.assert_close(highway(x), expected)


def test_at_first_the_input_is_carried():
    torch.manual_seed(0)
    highway, x = Highway(200, 1), torch.randn(50, 200)
    assert torch.nn.functional.cosine_similarity(highway(x), x, dim=1).min() > 0.8


def test_no_layers():
    x = torch.randn(2, 5)
    assert torch.equal(Highway(5, 0)(x), x)
