import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerance import assert_close

from spacy_lexner.encoders.elmo.char_cnn import CharacterCNN, Highway

PAD = 9


def make_cnn(activation="relu", filters=((1, 3), (2, 4), (5, 2)), width=6):
    torch.manual_seed(0)
    return CharacterCNN(10, 4, filters, 1, width, PAD, activation)


def naive_pool(cnn, characters):
    """Every window of every filter, one after the other."""
    embedded = cnn.embedding(characters)
    pooled = []
    for convolution in cnn.convolutions:
        width = convolution.kernel_size[0]
        windows = [
            torch.einsum("nwd,fdw->nf", embedded[:, start : start + width], convolution.weight) + convolution.bias
            for start in range(characters.shape[1] - width + 1)
        ]
        pooled.append(torch.stack(windows).amax(dim=0))
    return torch.cat(pooled, dim=1)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(1, 8), max_size=12), min_size=1, max_size=4), st.sampled_from(["relu", "tanh"]))
def test_pool_by_its_definition(words, activation):
    """Columns with only padding are dropped if that changes nothing."""
    cnn = make_cnn(activation)
    characters = torch.tensor([word + [PAD] * (12 - len(word)) for word in words])
    expected = getattr(torch, activation)(naive_pool(cnn, characters))
    assert_close(cnn.pool(characters), expected, 5 * 4)  # the widest filter, of characters of 4 values


def test_padding_is_a_character():
    """A maximum may come from padding; it is trained as in the original."""
    cnn = make_cnn()
    cnn.pool(torch.tensor([[1, PAD, PAD, PAD, PAD, PAD]])).sum().backward()
    assert cnn.embedding.weight.grad[PAD].abs().sum() > 0


def test_short_words_cost_little():
    cnn, lengths = make_cnn(), []
    cnn.convolutions[0].register_forward_hook(lambda module, inputs, output: lengths.append(inputs[0].shape[2]))
    cnn(torch.tensor([[1, 2] + [PAD] * 48]))
    assert lengths == [2 + 5]


def test_no_projection_where_widths_agree():
    assert isinstance(make_cnn(width=9).projection, torch.nn.Identity)
    assert make_cnn(width=9)(torch.tensor([[1, 2, 3, 4, 5]])).shape == (1, 9)


def test_unknown_activation():
    with pytest.raises(ValueError, match="activation is 'gelu'; expected"):
        make_cnn("gelu")


def test_a_highway_layer_by_its_equation():
    torch.manual_seed(0)
    highway, x = Highway(5, 2), torch.randn(3, 5)
    expected = x
    for layer in highway.layers:
        transformed = torch.relu(expected @ layer.weight[:5].T + layer.bias[:5])
        gate = torch.sigmoid(expected @ layer.weight[5:].T + layer.bias[5:])
        expected = gate * expected + (1 - gate) * transformed
    assert_close(highway(x), expected, 2 * 5)


def test_at_first_a_highway_s_input_is_carried():
    torch.manual_seed(0)
    highway, x = Highway(200, 1), torch.randn(50, 200)
    assert torch.nn.functional.cosine_similarity(highway(x), x, dim=1).min() > 0.8


def test_no_highway_layers():
    x = torch.randn(2, 5)
    assert torch.equal(Highway(5, 0)(x), x)
