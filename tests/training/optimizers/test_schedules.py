import copy
import pickle
from itertools import islice

import pytest
from thinc.api import Optimizer, registry

from spacy_lexner.training.optimizers.schedules import warmup_constant, warmup_linear


def first(schedule, n):
    return list(islice(schedule, n))


def test_linear():
    assert first(warmup_linear(1.0, 8, warmup_steps=4), 10) == [0.25, 0.5, 0.75, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    assert first(warmup_linear(2.0, 4), 6) == [2.0, 1.5, 1.0, 0.5, 0.0, 0.0]
    assert first(warmup_linear(1.0, 2, warmup_steps=2), 4) == [0.5, 1.0, 0.0, 0.0]


def test_constant():
    assert first(warmup_constant(2.0, warmup_steps=2), 4) == [1.0, 2.0, 2.0, 2.0]
    assert first(warmup_constant(2.0), 2) == [2.0, 2.0]


def test_share_of_the_steps():
    assert first(warmup_linear(1.0, 10, warmup_share=0.2), 12) == first(warmup_linear(1.0, 10, warmup_steps=2), 12)
    assert first(warmup_constant(1.0, warmup_share=0.5, total_steps=4), 4) == [0.5, 1.0, 1.0, 1.0]


def test_copies_go_on_where_the_original_stands():
    schedule = warmup_linear(1.0, 8, warmup_steps=4)
    first(schedule, 3)
    copies = [copy.deepcopy(schedule), pickle.loads(pickle.dumps(schedule))]
    rest = first(schedule, 7)
    assert rest == [1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    assert [first(other, 7) for other in copies] == [rest, rest]


@pytest.mark.parametrize("name", ["warmup_linear", "warmup_constant"])
def test_registered_and_used_by_an_optimizer(name):
    config = {"@schedules": f"spacy-lexner.{name}.v1", "initial_rate": 1.0, "total_steps": 8, "warmup_share": 0.5}
    optimizer = registry.resolve({"optimizer": {"@optimizers": "Adam.v1", "learn_rate": config}})["optimizer"]
    assert isinstance(optimizer, Optimizer)
    rates = [optimizer.learn_rate]
    for _ in range(4):
        optimizer.step_schedules()
        rates.append(optimizer.learn_rate)
    assert rates == [0.25, 0.5, 0.75, 1.0, 1.0]


@pytest.mark.parametrize(
    "create, kwargs, message",
    [
        (warmup_linear, {"total_steps": 0}, "total_steps is 0; a linear decay needs"),
        (warmup_linear, {"total_steps": 5, "warmup_steps": 6}, "The warm-up is 6 steps; expected at most 5"),
        (warmup_linear, {"total_steps": 5, "warmup_steps": -1}, "warmup_steps is -1; expected at least 0"),
        (warmup_linear, {"total_steps": 5, "warmup_share": 1.5}, "warmup_share is 1.5; expected a number from 0 to 1"),
        (warmup_linear, {"total_steps": 5, "warmup_share": 0.5, "warmup_steps": 1}, "given twice"),
        (warmup_constant, {"warmup_share": 0.5}, "needs total_steps"),
    ],
)
def test_wrong_values(create, kwargs, message):
    with pytest.raises(ValueError, match=message):
        create(1.0, **kwargs)
