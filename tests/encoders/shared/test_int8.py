import copy

import numpy as np
import pytest
import torch
from torch import nn

from spacy_lexner.encoders.shared.int8 import KEY, SCALE, pack, quantize
from spacy_lexner.encoders.shared.shim import ModuleShim

pytest.importorskip("torchao")
SETTINGS = {"n_rows": 12, "width": 48}


class Net(nn.Module):
    def __init__(self, n_rows: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(n_rows, width, padding_idx=0)
        self.linear, self.norm = nn.Linear(width, 2 * width), nn.LayerNorm(2 * width)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.norm(self.linear(self.table(ids)))


def build(settings):
    return Net(settings["n_rows"], settings["width"])


def made() -> ModuleShim:
    torch.manual_seed(0)
    shim = ModuleShim(build)
    shim.initialize(SETTINGS)
    shim.module.eval()
    return shim


def run(shim: ModuleShim) -> np.ndarray:
    with torch.no_grad():
        return shim.module(torch.arange(12)).numpy()


def test_the_output_is_near_that_of_floats():
    shim = made()
    before = run(shim)
    shim.quantize()
    error = np.abs(run(shim) - before)
    # The sum of 48 products, each of two numbers that are off by up to half a step of 1 / 127 of the largest, relative
    # to rows of standard deviation 1: 48 independent errors of 2 * 0.29 / 127 * 3 (a normal row's largest is about 3).
    assert 0 < error.max() < 6 * 2 * 0.29 / 127 * 3


def test_saved_weights_are_a_quarter_and_hold_no_floats_but_scales():
    shim = made()
    n_floats = len(shim.to_bytes())
    shim.quantize()
    packed = pack(shim.module)
    weights = {"table.weight", "linear.weight"}
    assert {name for name, tensor in packed.items() if tensor.dtype == torch.int8} == weights
    assert {f"{name}{SCALE}" for name in weights} < set(packed)
    assert sum(t.numel() * t.element_size() for t in packed.values()) < 0.35 * n_floats  # of a very small module


def test_a_saved_module_computes_the_same():
    shim = made()
    shim.quantize()
    for loaded in (ModuleShim(build).from_bytes(shim.to_bytes()), shim.copy(), copy.deepcopy(shim)):
        loaded.module.eval()
        assert loaded.in_int8 and loaded.settings == {**SETTINGS, KEY: True}
        np.testing.assert_array_equal(run(loaded), run(shim))
    again = ModuleShim(build).from_bytes(shim.to_bytes())
    assert again.to_bytes() == ModuleShim(build).from_bytes(again.to_bytes()).to_bytes()


def test_damaged_weights_are_named():
    shim = made()
    shim.quantize()
    other = ModuleShim(lambda settings: Net(settings["n_rows"] + 1, settings["width"]))
    with pytest.raises(ValueError, match=r"table\.weight has shape \[12, 48\] instead of \[13, 48\]"):
        other.from_bytes(shim.to_bytes())


def test_it_is_not_trained():
    shim = made()
    shim.quantize()
    with pytest.raises(ValueError, match="cannot be trained"):
        shim.begin_update(None)


def test_a_row_of_zeros_stays_zero():
    net = Net(**SETTINGS)
    with torch.no_grad():
        net.linear.weight[3] = 0
    quantize(net)
    assert not net.table(torch.zeros(1, dtype=torch.int64)).any()
    assert torch.isfinite(net(torch.arange(12))).all()


def test_without_torchao(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torchao.kernel", None)
    with pytest.raises(ImportError, match=r"spacy-lexner\[int8\]"):
        quantize(Net(**SETTINGS))
