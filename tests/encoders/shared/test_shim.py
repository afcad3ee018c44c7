import copy
import gc

import numpy as np
import pytest
import srsly
import torch
from thinc.api import Adam, ArgsKwargs, Model, PyTorchGradScaler
from tolerance import assert_close

from spacy_lexner.encoders.shared import half_precision, shim
from spacy_lexner.encoders.shared.character_tables import TokenVectors
from spacy_lexner.encoders.shared.shim import ModuleShim
from spacy_lexner.training.optimizers import adamw
from spacy_lexner.training.optimizers.adamw import GroupedAdamW


class Tied(torch.nn.Module):
    """Two layers that share one weight, as a decoder tied to its embeddings does."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = torch.nn.Linear(width, width)
        self.second = torch.nn.Linear(width, width)
        self.second.weight = self.first.weight

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return self.second(torch.tanh(self.first(X)))


def build(settings):
    return Tied(settings["width"])


def make_model(width=4):
    shim = ModuleShim(build)
    shim.initialize({"width": width})
    return Model("shimmed", lambda model, X, is_train: (X, lambda dY: dY), shims=[shim])


def run(model, X):
    return model.shims[0].predict(ArgsKwargs(args=(X,), kwargs={}))


def test_uninitialized_round_trip():
    shim = ModuleShim(build)
    assert not ModuleShim(build).from_bytes(shim.to_bytes()).is_initialized
    with pytest.raises(ValueError, match=r"nlp.initialize"):
        _ = shim.module


def test_bytes_rebuild_the_module():
    model = make_model()
    loaded = Model("shimmed", model._func, shims=[ModuleShim(build)]).from_bytes(model.to_bytes())
    X = torch.randn(3, 4)
    assert torch.equal(run(model, X), run(loaded, X))
    assert loaded.shims[0].module.first.weight is loaded.shims[0].module.second.weight


def test_damaged_bytes_are_refused():
    shim = make_model().shims[0]
    other = ModuleShim(lambda settings: Tied(5))
    with pytest.raises(ValueError, match=r"first.weight has shape \[4, 4\] instead of \[5, 5\]"):
        other.from_bytes(shim.to_bytes())
    msg = srsly.msgpack_loads(shim.to_bytes())
    msg["state"] = msg["state"][:-8]
    with pytest.raises(ValueError, match="truncated or damaged"):
        ModuleShim(build).from_bytes(srsly.msgpack_dumps(msg))


def test_settings_must_be_json():
    with pytest.raises(ValueError, match="plain JSON"):
        ModuleShim(build).initialize({"width": 4, "sizes": (1, 2)})
    shim = make_model().shims[0]
    msg = srsly.msgpack_loads(shim.to_bytes())
    for value in (float("nan"), float("inf"), {1: 2}, b""):
        msg["settings"]["dropout"] = value
        with pytest.raises(ValueError, match=r"plain JSON.*finite numbers"):
            ModuleShim(build).from_bytes(srsly.msgpack_dumps(msg))


def step(model, optimizer):
    shim = model.shims[0]
    Y, backprop = shim.begin_update(ArgsKwargs(args=(torch.ones(2, 4),), kwargs={}))
    backprop(ArgsKwargs(args=(Y,), kwargs={"grad_tensors": torch.ones_like(Y)}))
    shim.finish_update(optimizer)


def test_update_changes_weights_and_clears_gradients():
    model = make_model()
    before = model.shims[0].module.first.weight.detach().clone()
    step(model, Adam(0.1, use_averages=False))
    assert not torch.equal(before, model.shims[0].module.first.weight)
    assert all(parameter.grad is None for parameter in model.shims[0].module.parameters())


@pytest.mark.parametrize("optimizer", [Adam(0.1, use_averages=False), GroupedAdamW(0.1)])
def test_updates_leave_no_tensors_behind(optimizer):
    model = make_model()
    step(model, optimizer)
    gc.collect()
    before = len([thing for thing in gc.get_objects() if type(thing) is torch.Tensor])
    for _ in range(5):
        step(model, optimizer)
    gc.collect()
    assert len([thing for thing in gc.get_objects() if type(thing) is torch.Tensor]) <= before


@pytest.mark.parametrize(
    "make_optimizer",
    [
        lambda: GroupedAdamW(0.1, weight_decay=0.0, max_grad_norm=0.0),
        lambda: GroupedAdamW(0.1, weight_decay=0.0, max_grad_norm=1.5),
        lambda: Adam(0.1, L2=0.0, grad_clip=0.0, use_averages=False),
    ],
    ids=["rows", "clipped", "thinc"],
)
def test_tables_learn_as_with_dense_gradients(make_optimizer, monkeypatch):
    monkeypatch.setattr(adamw, "LARGE", 0)
    torch.manual_seed(0)
    shim = ModuleShim(lambda settings: torch.nn.Sequential(TokenVectors(7, 3)))
    table = shim.initialize({})[0]
    dense = torch.nn.Embedding(7, 3, padding_idx=0, _weight=table.weight.detach().clone())
    peer = torch.optim.AdamW(dense.parameters(), 0.1, weight_decay=0.0)
    optimizer = make_optimizer()
    for ids in ([[2, 3, 0]], [[3, 3, 1]], [[6, 2, 0]]):  # a row's momentum moves it in later steps
        for _ in range(2):  # accumulated
            Y, backprop = shim.begin_update(ArgsKwargs(args=(torch.tensor(ids),), kwargs={}))
            backprop(ArgsKwargs(args=(Y,), kwargs={"grad_tensors": Y.detach().clone()}))
            dense(torch.tensor(ids)).square().div(2).sum().backward()
        if max_norm := getattr(optimizer, "max_grad_norm", 0.0):
            torch.nn.utils.clip_grad_norm_(dense.parameters(), max_norm)
        shim.finish_update(optimizer)
        peer.step()
        peer.zero_grad()
        assert_close(table.weight.detach(), dense.weight.detach(), n_terms=30)


def test_gradients_that_are_not_finite_change_nothing():
    model = make_model()
    before = model.shims[0].module.first.weight.detach().clone()
    optimizer = GroupedAdamW(0.1, max_grad_norm=1.0)
    model.shims[0].module.first.weight.grad = torch.full((4, 4), float("nan"))
    with pytest.warns(RuntimeWarning, match="skipped"):
        model.shims[0].finish_update(optimizer)
    assert torch.equal(before, model.shims[0].module.first.weight)


@pytest.fixture
def scaling(monkeypatch):
    """Scale gradients as on a GPU without bfloat16, but compute in float32."""

    def scale(scaler, tensor, scales, inplace):
        assert inplace
        return tensor.mul_(scaler._scale)

    monkeypatch.setattr(PyTorchGradScaler, "_scale_tensor", scale)
    monkeypatch.setattr(half_precision, "half_precision", lambda device: torch.float16)
    monkeypatch.setattr(shim, "half_precision", lambda device: None)


class Scaled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor(2.0))  # without dimensions

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return X * self.factor


def test_scaled_gradients_of_parts_of_a_batch_add_up(scaling):
    scaled = ModuleShim(lambda settings: Scaled(), mixed_precision=True)
    factor = scaled.initialize({}).factor
    for n_done in range(1, 4):
        Y, backprop = scaled.begin_update(ArgsKwargs(args=(torch.ones(2),), kwargs={}))
        backprop(ArgsKwargs(args=((Y,),), kwargs={"grad_tensors": (torch.ones(2),)}))
        assert factor.grad == 2 * n_done
    scaled.finish_update(GroupedAdamW(0.1))
    assert factor < 2.0 and factor.grad is None


def test_an_overflow_in_a_part_of_a_batch_skips_the_update(scaling):
    scaled = ModuleShim(lambda settings: Scaled(), mixed_precision=True)
    factor, scale = scaled.initialize({}).factor, scaled._grad_scaler._scale.clone()
    for value in (float("inf"), 1.0):
        Y, backprop = scaled.begin_update(ArgsKwargs(args=(torch.full((2,), value),), kwargs={}))
        backprop(ArgsKwargs(args=((Y,),), kwargs={"grad_tensors": (torch.ones(2),)}))
    scaled.finish_update(GroupedAdamW(0.1))
    assert factor == 2.0 and scaled._grad_scaler._scale == scale / 2


def test_input_gradient():
    shim = make_model().shims[0]
    X = torch.randn(2, 4, requires_grad=True)
    Y, backprop = shim.begin_update(ArgsKwargs(args=(X,), kwargs={}))
    backprop(ArgsKwargs(args=(Y,), kwargs={"grad_tensors": torch.ones_like(Y)}))
    expected = torch.autograd.grad(shim.module(X).sum(), X)[0]
    assert torch.equal(X.grad, expected)


def test_copy_has_its_own_id_and_weights():
    model = make_model()
    copied = model.copy()
    assert copied.shims[0].id != model.shims[0].id
    X = torch.randn(3, 4)
    assert torch.equal(run(model, X), run(copied, X))
    step(copied, Adam(0.1, use_averages=False))
    assert not torch.equal(run(model, X), run(copied, X))
    assert torch.equal(run(copy.deepcopy(model), X), run(model, X))


def test_averaged_parameters_are_used_and_put_back():
    model, optimizer = make_model(), Adam(0.1, use_averages=True)
    for _ in range(3):
        step(model, optimizer)
    X = torch.randn(3, 4)
    now = run(model, X)
    with model.use_params(optimizer.averages):
        np.testing.assert_array_equal(
            model.shims[0].module.first.weight.detach(), optimizer.averages[(model.shims[0].id, "first.weight")]
        )
        assert not torch.equal(run(model, X), now)
    assert torch.equal(run(model, X), now)


def test_prediction_leaves_evaluation_mode():
    model = make_model()
    run(model, torch.ones(1, 4))
    assert not model.shims[0].module.training
