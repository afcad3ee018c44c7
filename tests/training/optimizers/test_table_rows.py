import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tolerance import assert_close, tolerance

from spacy_lexner.training.optimizers import adamw
from spacy_lexner.training.optimizers.adamw import GroupedAdamW
from spacy_lexner.training.optimizers.sgd import GroupedSGD
from spacy_lexner.training.optimizers.table_rows import INTERVAL, NEGLIGIBLE

KEY, RATE, WIDTH = (1, "table"), 0.1, 3
OPERATIONS = 20  # of an update, on a weight
N_ASLEEP = 150  # updates after which a row rests that had one gradient


@pytest.fixture(autouse=True)
def any_table_is_large(monkeypatch):
    monkeypatch.setattr(adamw, "LARGE", 0)


def gradients(n_updates, n_rows, seed=0):
    """Gradients of few rows, some of which are rare."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, n_rows + 1) ** 2
    for _ in range(n_updates):
        rows = np.flatnonzero(rng.random(n_rows) < shares)
        yield rows, rng.normal(size=(len(rows), WIDTH)) * 10.0 ** rng.integers(-4, 3)


def dense(rows, values, n_rows):
    whole = np.zeros((n_rows, WIDTH))
    whole[rows] = values
    return whole


def train(optimizer, table, steps):
    for rows, values in steps:
        table = optimizer.update_rows(KEY, table, rows, values.copy())
    return table


def state(optimizer):
    optimizer.settle()
    return {name: getattr(optimizer, name)[KEY].copy() for name in ("mom1", "mom2", "averages")}


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 600), st.integers(1, 30), st.integers(0, 1000))
def test_the_same_as_updates_of_the_whole_table(n_updates, n_rows, seed):
    start = np.random.default_rng(seed).normal(size=(n_rows, WIDTH))
    parameter = torch.nn.Parameter(torch.tensor(start))
    torchs = torch.optim.AdamW([parameter], lr=RATE, weight_decay=0.0)
    whole, ours = (GroupedAdamW(RATE, weight_decay=0.0, use_averages=True) for _ in range(2))
    by_rows = train(ours, start.copy(), gradients(n_updates, n_rows, seed))
    at_once = start.copy()
    for rows, values in gradients(n_updates, n_rows, seed):
        parameter.grad = torch.tensor(dense(rows, values, n_rows))
        torchs.step()
        at_once, _ = whole(KEY, at_once, dense(rows, values, n_rows))
    neglected = 12 * NEGLIGIBLE * RATE * (1 + n_updates / N_ASLEEP)
    rounding = tolerance(n_updates * OPERATIONS, [at_once, RATE], "float64")
    for expected in (at_once, parameter.detach().numpy()):
        np.testing.assert_allclose(by_rows, expected, rtol=0, atol=neglected + rounding)
    theirs = state(whole)
    for name, array in state(ours).items():
        scale = [theirs[name], at_once if name == "averages" else 0.0]
        allowed = tolerance(n_updates * OPERATIONS, scale, "float32") + (neglected if name == "averages" else 0.0)
        np.testing.assert_allclose(array, theirs[name], rtol=1e-9, atol=allowed)


def test_rows_without_gradients_come_to_rest():
    optimizer = GroupedAdamW(RATE, weight_decay=0.0)
    everything = [(np.arange(5), np.ones((5, WIDTH)))]
    table = train(optimizer, np.zeros((5, WIDTH)), everything)
    after = []
    for _ in range(N_ASLEEP + INTERVAL):
        table = train(optimizer, table, [(np.array([2]), np.ones((1, WIDTH)))])
        after.append(table.copy())
    assert (after[0] != after[1]).all()  # moved by momentum
    assert (after[-1] != after[-2]).any(1).tolist() == [False, False, True, False, False]
    table = train(optimizer, table, [(np.array([4]), np.ones((1, WIDTH)))])
    assert (after[-1] != table).any(1).tolist() == [False, False, True, False, True]


@pytest.mark.parametrize("n_updates", [1, 5, 100, 333])
def test_a_resumed_run_goes_on_as_one_that_was_not_interrupted(n_updates):
    steps = list(gradients(n_updates + 200, 20))
    optimizer = GroupedAdamW(RATE, weight_decay=0.0, use_averages=True)
    table = train(optimizer, np.ones((20, WIDTH)), steps[:n_updates])
    resumed, again = GroupedAdamW(RATE, weight_decay=0.0, use_averages=True), table.copy()
    for name, array in state(optimizer).items():
        getattr(resumed, name)[KEY] = array
    resumed.nr_update[KEY] = n_updates
    table, again = (train(each, own, steps[n_updates:]) for each, own in ((optimizer, table), (resumed, again)))
    assert np.array_equal(table, again)
    for ours, theirs in zip(state(optimizer).values(), state(resumed).values()):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("make", [lambda: GroupedAdamW(RATE, weight_decay=0.1), lambda: GroupedSGD(RATE)])
def test_optimizers_that_move_all_rows(make):
    steps, expected, optimizer = list(gradients(30, 8)), np.ones((8, WIDTH)), make()
    for rows, values in steps:
        expected, _ = optimizer(KEY, expected, dense(rows, values, 8))
    optimizer = make()
    assert np.array_equal(train(optimizer, np.ones((8, WIDTH)), steps), expected)
    assert not optimizer._zeros[KEY].any()


def test_a_table_may_get_a_dense_gradient_in_between():
    optimizer, whole = (GroupedAdamW(RATE, weight_decay=0.0, use_averages=True) for _ in range(2))
    table = expected = np.ones((20, WIDTH), "f4")
    for i, (rows, values) in enumerate(gradients(300, 20)):
        values = values.astype("f4")
        gradient = dense(rows, values, 20).astype("f4")
        expected, _ = whole(KEY, expected.copy(), gradient.copy())
        if i % 100 == 99:
            table, _ = optimizer(KEY, table.copy(), gradient)
        else:
            table = optimizer.update_rows(KEY, table.copy(), rows, values)
    assert_close(table, expected, 300 * OPERATIONS)
    assert_close(optimizer.averages[KEY], whole.averages[KEY], 300 * OPERATIONS, scale=expected)


def test_each_table_alone_is_clipped_by_its_rows():
    rows, values = np.array([1, 3]), np.array([[30.0, 0.0, 0.0], [0.0, 40.0, 0.0]])
    clipped, same = GroupedSGD(RATE, grad_clip=1.0), GroupedSGD(RATE)
    ours = clipped.update_rows(KEY, np.zeros((5, WIDTH)), rows, values.copy())
    assert_close(ours, same.update_rows(KEY, np.zeros((5, WIDTH)), rows, values / 50), OPERATIONS, "float64")
