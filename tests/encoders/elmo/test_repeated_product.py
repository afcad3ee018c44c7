from copy import deepcopy

import pytest
import torch

from spacy_lexner.encoders.elmo import onednn, repeated_product
from spacy_lexner.encoders.elmo.repeated_product import Layouts, hold, lay_out, product


@pytest.mark.parametrize("n_calls, packed", [(repeated_product.MANY, True), (repeated_product.MANY - 1, False)])
def test_both_layouts_give_the_same(monkeypatch, n_calls, packed):
    torch.manual_seed(0)
    weight = torch.randn(12, 5)
    monkeypatch.setattr(repeated_product, "LARGE", 60)
    laid_out = lay_out(weight, n_calls)
    assert laid_out.is_mkldnn == (packed and torch.backends.mkldnn.is_available())
    for n_rows in (1, 4, 33):
        x = torch.randn(64, 5)[:n_rows]  # rows of a larger tensor, as in a recurrent layer
        torch.testing.assert_close(product(x, laid_out), x @ weight.T)


def test_directions_side_by_side():
    weight, x = torch.randn(2, 12, 5), torch.randn(2, 7, 5)
    torch.testing.assert_close(product(x, lay_out(weight, 100)), torch.einsum("dni,doi->dno", x, weight))


@pytest.mark.parametrize("weight", [torch.randn(12, 5), torch.randn(12, 5).double(), torch.randn(12, 5).to("meta")])
def test_small_weights_and_other_types_are_not_packed(monkeypatch, weight):
    if weight.dtype == torch.float32 and weight.device.type == "cpu":
        assert weight.numel() < repeated_product.LARGE
    else:
        monkeypatch.setattr(repeated_product, "LARGE", 0)
    assert not lay_out(weight, 100).is_mkldnn


def test_a_build_of_torch_without_the_operators(monkeypatch):
    monkeypatch.setattr(repeated_product, "LARGE", 0)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert not lay_out(torch.randn(12, 5), 10).is_mkldnn


def test_a_small_weight_is_held_so_that_nothing_is_copied(monkeypatch):
    weight = torch.randn(2, 12, 5)
    held = hold(weight)
    assert torch.equal(held, weight)
    assert lay_out(held, 100).data_ptr() == held.data_ptr()
    monkeypatch.setattr(repeated_product, "LARGE", 0)
    assert hold(weight) is weight


def test_weights_can_be_trained_afterwards(monkeypatch):
    """The packed copy is made anew for each use: it never outlives a change of the weight."""
    monkeypatch.setattr(repeated_product, "LARGE", 0)
    weight, x = torch.nn.Parameter(torch.ones(3, 4)), torch.ones(1, 4)
    for value in (1.0, 2.0):
        weight.data.fill_(value)
        with torch.no_grad():
            assert torch.equal(product(x, lay_out(weight, 10)), torch.full((1, 3), 4 * value))


@pytest.fixture
def packed(monkeypatch):
    """The weights that are packed; oneDNN is the faster one for 4 rows and more."""
    packed = []

    def pack(weight):
        packed.append(weight)
        return torch.ops.mkldnn._reorder_linear_weight(weight.detach())

    if not onednn.is_available(torch.ones(1, 1)):
        pytest.skip("a build of torch without oneDNN")
    monkeypatch.setattr(onednn, "pack", pack)
    monkeypatch.setattr(onednn, "is_faster", lambda weight, n_rows: n_rows >= 4)
    return packed


def change_in_place(weight):
    weight[3, 2] += 0.001


def change_by_data(weight):
    weight.data.mul_(1.001)


def change_by_numpy(weight):
    weight.numpy()[...] += 0.001


def change_memory(weight):
    weight.data = torch.randn(12, 5)


@pytest.mark.parametrize("change", [change_in_place, change_by_data, change_by_numpy, change_memory])
def test_layouts_are_kept_until_a_weight_changes(packed, change):
    layouts, weight, x = Layouts(), torch.randn(12, 5), torch.randn(4, 5)
    for _ in range(3):
        torch.testing.assert_close(product(x, layouts.lay_out("W", weight, 100, 4)), x @ weight.T)
    assert len(packed) == 1
    change(weight)
    with torch.inference_mode():
        torch.testing.assert_close(product(x, layouts.lay_out("W", weight, 100, 4)), x @ weight.T)
    assert len(packed) == 2
    layouts.lay_out("V", weight, 100, 4)
    assert len(packed) == 3
    assert deepcopy(layouts)._held == {}


def test_layouts_of_few_rows_are_those_of_training(packed):
    weight = hold(torch.randn(12, 5))
    assert Layouts().lay_out("W", weight, 100, 3).data_ptr() == weight.data_ptr()
    assert not packed


def test_layouts_of_large_weights_are_not_kept(monkeypatch, packed):
    monkeypatch.setattr(repeated_product, "LARGE", 0)
    layouts, weight = Layouts(), torch.randn(12, 5)
    assert layouts.lay_out("W", weight, 100, 4).is_mkldnn and layouts.pack("V", weight) is weight
    assert layouts._held == {}
