import math

import numpy
import pytest
import torch
from thinc.api import Linear, PyTorchGradScaler, PyTorchWrapper, chain
from tolerance import assert_all_close, near

from spacy_lexner.training.optimizers.adamw import GroupedAdamW
from spacy_lexner.training.optimizers.clipping import clip_gradients, get_gradients

N_VALUES = 4 * 3 + 4 + 4 * 5 + 5 + 2 * 5 + 2  # of the gradients, whose squares are added


def make_model(scale=1.0):
    """A torch module between two thinc layers, after one backward pass."""
    torch.manual_seed(0)
    numpy.random.seed(0)
    model = chain(Linear(4, 3), PyTorchWrapper(torch.nn.Linear(4, 5)), Linear(2, 5))
    for node in model.layers:
        if node.name == "linear":
            node.initialize()
    x = numpy.random.normal(size=(6, 3)).astype("f")
    output, backprop = model.begin_update(x)
    backprop((scale * output).astype("f"))
    return model


def weights(model):
    parameters = {(node.id, name): node.get_param(name).copy() for node in model.walk() for name in node.param_names}
    for name, parameter in model.layers[1].shims[0]._model.named_parameters():
        parameters[name] = parameter.detach().numpy().copy()
    return parameters


@pytest.mark.parametrize("max_norm", [1e-3, 0.5, 1e6])
def test_same_as_torch(max_norm):
    model = make_model()
    parameters = []
    for gradient in get_gradients(model):
        parameter = torch.nn.Parameter(torch.zeros(gradient.shape))
        parameter.grad = torch.tensor(gradient.copy())
        parameters.append(parameter)
    assert len(parameters) == 6
    theirs = torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    assert clip_gradients(model, max_norm) == near(theirs.item(), N_VALUES)
    assert_all_close(get_gradients(model), [parameter.grad for parameter in parameters], N_VALUES)


def test_norm_is_exact_and_nothing_below_it_changes():
    model = make_model()
    norm = math.sqrt(sum((gradient.astype("d") ** 2).sum() for gradient in get_gradients(model)))
    before = [gradient.copy() for gradient in get_gradients(model)]
    assert clip_gradients(model, norm * 1.01) == near(norm, N_VALUES)
    assert all((a == b).all() for a, b in zip(before, get_gradients(model)))
    clip_gradients(model, norm / 3)
    assert clip_gradients(model, 1e9) == near(norm / 3, N_VALUES)


def test_without_gradients():
    assert clip_gradients(Linear(2, 2).initialize(), 1.0) == 0.0


@pytest.mark.parametrize("max_norm", [0.0, -1.0, float("nan")])
def test_wrong_norm(max_norm):
    with pytest.raises(ValueError, match=r"max_norm is .*; expected a number above 0"):
        clip_gradients(make_model(), max_norm)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("where", [0, -1])
def test_a_norm_that_is_not_finite_skips_the_update(value, where):
    model = make_model()
    optimizer = GroupedAdamW(0.1)
    model.finish_update(optimizer)  # momentum, which would move the weights even with a gradient of zero
    before = weights(model)
    bad = make_gradients(model)
    bad[where].flat[0] = value
    with pytest.warns(RuntimeWarning, match="this update is skipped"):
        assert not math.isfinite(optimizer.finish_update(model))
    assert all((after == before[key]).all() for key, after in weights(model).items())
    assert not any(gradient.any() for gradient in get_gradients(model))
    make_gradients(model)
    assert math.isfinite(optimizer.finish_update(model))
    assert all((after != before[key]).any() for key, after in weights(model).items())


def test_a_skipped_update_lowers_the_scale_of_gradients():
    model, scaler = make_model(), PyTorchGradScaler(enabled=True)
    model.layers[1].shims[0]._grad_scaler = scaler
    for scale in (2.0**15, 2.0**14):
        get_gradients(model)[-1].flat[0] = float("inf")
        scaler._found_inf = True
        with pytest.warns(RuntimeWarning, match="this update is skipped"):
            GroupedAdamW(0.1).finish_update(model)
        assert scaler._scale == scale and not scaler.found_inf


def make_gradients(model):
    output, backprop = model.begin_update(numpy.ones((6, 3), dtype="f"))
    backprop(output)
    return get_gradients(model)


def test_finish_update_clips_to_the_norm_of_the_optimizer():
    seen = {}

    class Spy(GroupedAdamW):
        def __call__(self, key, weights, gradient, *, lr_scale=1.0):
            seen[key] = gradient.copy()
            return super().__call__(key, weights, gradient, lr_scale=lr_scale)

    norm = Spy(max_grad_norm=0.25).finish_update(make_model(100.0))
    assert norm > 1
    assert math.sqrt(sum((gradient**2).sum() for gradient in seen.values())) == near(0.25, N_VALUES)
    seen.clear()
    assert Spy(max_grad_norm=0.0).finish_update(make_model(100.0)) == 0.0
    assert math.sqrt(sum((gradient**2).sum() for gradient in seen.values())) == near(norm, N_VALUES)


def test_an_update_that_fails_leaves_parts_to_be_clipped():
    class Failing(GroupedAdamW):
        def __call__(self, key, weights, gradient, *, lr_scale=1.0):
            assert self.is_clipped
            raise ArithmeticError

    optimizer = Failing(max_grad_norm=0.25)
    with pytest.raises(ArithmeticError):
        optimizer.finish_update(make_model(100.0))
    assert not optimizer.is_clipped
