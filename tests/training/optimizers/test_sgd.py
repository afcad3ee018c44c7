import numpy
import pytest
import torch
from thinc.api import registry
from tolerance import assert_close, near

from spacy_lexner.training.optimizers.parameter_groups import parse_groups
from spacy_lexner.training.optimizers.schedules import warmup_constant
from spacy_lexner.training.optimizers.sgd import GroupedSGD

GROUPS = [{"pattern": "slow", "learn_rate_factor": 0.1}]


def gradients(n_steps, shape=(3, 4)):
    return numpy.random.default_rng(0).normal(size=(n_steps, *shape), scale=3).astype("f")


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@pytest.mark.parametrize("max_value", [0.0, 2.0])
@pytest.mark.parametrize("order", ["C", "F"])
def test_same_as_torch(weight_decay, max_value, order):
    weights = numpy.ones((3, 4), dtype="f", order=order)
    parameter = torch.nn.Parameter(torch.ones(3, 4))
    theirs = torch.optim.SGD([parameter], lr=0.1, momentum=0.9, weight_decay=weight_decay)
    ours = GroupedSGD(0.1, weight_decay=weight_decay, max_grad_value=max_value)
    for gradient in gradients(5):
        parameter.grad = torch.tensor(gradient)
        if max_value:
            torch.nn.utils.clip_grad_value_([parameter], max_value)
        theirs.step()
        weights, given = ours((1, "W"), weights, numpy.asarray(gradient, order=order))
        assert not given.any()
    assert_close(weights, parameter, 5 * 4)  # steps, and the operations of each


def test_groups_and_schedule():
    optimizer = GroupedSGD(warmup_constant(0.1, warmup_steps=2), groups=GROUPS, momentum=0.0)
    moved = {}
    for name in ("slow", "fast"):
        after, _ = optimizer((1, name), numpy.zeros(2, dtype="f"), numpy.ones(2, dtype="f"))
        moved[name] = after[0]
    assert moved == near({"slow": -0.005, "fast": -0.05}, n_terms=2)
    optimizer.step_schedules()
    after, _ = optimizer((1, "fast"), numpy.zeros(2, dtype="f"), numpy.ones(2, dtype="f"))
    assert after[0] == near(-0.1, n_terms=2)


def test_registered():
    config = {"@optimizers": "spacy-lexner.GroupedSGD.v1", "groups": GROUPS, "max_grad_value": 5.0}
    optimizer = registry.resolve({"optimizer": config})["optimizer"]
    assert isinstance(optimizer, GroupedSGD)
    assert (optimizer.groups, optimizer.momentum, optimizer.max_grad_value) == (parse_groups(GROUPS), 0.9, 5.0)
