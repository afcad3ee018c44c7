import pytest
import torch

from spacy_lexner.modules import repeated_product
from spacy_lexner.modules.repeated_product import RepeatedProduct


@pytest.mark.parametrize("n_calls, packed", [(repeated_product.MANY, True), (repeated_product.MANY - 1, False)])
def test_both_ways_give_the_same(monkeypatch, n_calls, packed):
    torch.manual_seed(0)
    weight = torch.randn(2, 12, 5)
    monkeypatch.setattr(repeated_product, "LARGE", 60)
    product = RepeatedProduct(weight, n_calls)
    assert (product.packed is not None) == (packed and repeated_product._can_pack(weight))
    for n_rows in (1, 4, 33):
        x = torch.randn(2, 64, 5)[:, :n_rows]  # rows of a larger tensor, as in a recurrent layer
        torch.testing.assert_close(product(x), x @ weight.transpose(1, 2))


@pytest.mark.parametrize(
    "weight", [torch.randn(2, 12, 5), torch.randn(2, 12, 5).double(), torch.randn(2, 12, 5).to("meta")]
)
def test_small_weights_and_other_types_are_left_alone(monkeypatch, weight):
    if weight.dtype == torch.float32 and weight.device.type == "cpu":
        assert weight[0].numel() < repeated_product.LARGE
    else:
        monkeypatch.setattr(repeated_product, "LARGE", 0)
    assert RepeatedProduct(weight, 100).packed is None


def test_a_build_of_torch_without_the_operators(monkeypatch):
    monkeypatch.setattr(repeated_product, "LARGE", 0)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert RepeatedProduct(torch.randn(2, 12, 5), 100).packed is None


def test_weights_can_be_trained_afterwards(monkeypatch):
    """The packed copy is made anew for each use: it never outlives a change of the weight."""
    monkeypatch.setattr(repeated_product, "LARGE", 0)
    weight, x = torch.nn.Parameter(torch.ones(2, 3, 4)), torch.ones(2, 1, 4)
    for value in (1.0, 2.0):
        weight.data.fill_(value)
        with torch.no_grad():
            assert torch.equal(RepeatedProduct(weight, 10)(x), torch.full((2, 1, 3), 4 * value))
