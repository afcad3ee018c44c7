import pytest
import torch
from torch import nn
from torch.testing import assert_close

from spacy_lexner.encoders.flat.encoder_layer import FeedForward, FlatLayer, Steps


class Double(nn.Module):
    """Stands for attention."""

    def forward(self, tokens, mask, positions, bias, record):
        return 2.0 * tokens


def layer(**options) -> FlatLayer:
    torch.manual_seed(0)
    made = FlatLayer(4, Double(), FeedForward(4, 6, "relu", 0.0, 0.0), **options)
    for module in made.modules():
        if isinstance(module, nn.LayerNorm):
            nn.init.normal_(module.weight)
    return made.eval()


def run(made: FlatLayer) -> tuple:
    x = torch.randn(2, 3, 4)
    return x, made(x, torch.ones(2, 3).bool(), None)


def test_residual_connections_add_the_input():
    made = layer()
    x, encoded = run(made)
    middle = made.post_attention.norm(x + 2.0 * x)
    assert_close(encoded, made.post_feed_forward.norm(middle + made.feed_forward(middle)))


def test_before_instead_of_after():
    made = layer(pre="n", post="a")
    x, encoded = run(made)
    middle = x + 2.0 * made.pre_attention.norm(x)
    assert_close(encoded, middle + made.feed_forward(made.pre_feed_forward.norm(middle)))


def test_the_original_adds_the_output_to_itself():
    made = layer(residual=False, shared_norm=True)
    x, encoded = run(made)
    norm = made.post_attention.norm
    middle = norm(4.0 * x)
    assert_close(encoded, norm(2.0 * made.feed_forward(middle)))
    assert made.post_feed_forward is made.post_attention


def test_each_sub_layer_has_a_norm_unless_shared():
    assert sum(isinstance(module, nn.LayerNorm) for module in layer().modules()) == 2
    assert sum(isinstance(module, nn.LayerNorm) for module in layer(shared_norm=True).modules()) == 1


def test_steps_drop_where_they_say():
    torch.manual_seed(0)
    x = torch.ones(1, 1000)
    dropped = Steps("d", 1000, 0.5)(x)
    assert 300 < int((dropped == 0).sum()) < 700
    assert (Steps("da", 1000, 0.5)(x, x) >= 1).all()
    assert torch.equal(Steps("a", 1000, 0.5)(x, x), 2 * x)
    assert torch.equal(Steps("d", 1000, 0.5).eval()(x), x)


def test_dropout_stands_before_the_activation():
    torch.manual_seed(0)
    part = FeedForward(4, 2000, "relu", 0.5, 0.0)
    nn.init.zeros_(part.inner.weight)
    nn.init.ones_(part.inner.bias)
    seen = []
    part.activation.register_forward_hook(lambda module, inputs, output: seen.append(inputs[0]))
    part(torch.randn(1, 4))
    assert set(seen[0].unique().tolist()) == {0.0, 2.0}


@pytest.mark.parametrize("name,function", [("relu", nn.ReLU), ("leaky", nn.LeakyReLU), ("gelu", nn.GELU)])
def test_activations(name, function):
    assert isinstance(FeedForward(4, 6, name, 0.0, 0.0).activation, function)


def test_impossible_options():
    with pytest.raises(ValueError, match=r"'tanh'.*relu, leaky, gelu"):
        FeedForward(4, 6, "tanh", 0.0, 0.0)
    with pytest.raises(ValueError, match=r"\['x'\].*'xn'"):
        Steps("xn", 4, 0.0)
    with pytest.raises(ValueError, match="pre='an'"):
        layer(pre="an")
