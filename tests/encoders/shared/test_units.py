import numpy as np
import torch
from thinc.api import Model

from spacy_lexner.encoders.shared.shim import ModuleShim
from spacy_lexner.encoders.shared.units import UnitBatch, UnitRows, pool_tokens, run_batches


class Add(torch.nn.Module):
    """The input rows, each plus the number of its batch and a parameter."""

    def __init__(self):
        super().__init__()
        self.plus = torch.nn.Parameter(torch.tensor(0.5))

    def forward(self, batches, given=None):
        rows = [numbers[:, None] + self.plus + (0.0 if given is None else given[: len(numbers)]) for numbers in batches]
        return torch.cat(rows).expand(-1, 2)


def build_add(settings):
    return Add()


def layer():
    model = Model("add", lambda *_: None, shims=[ModuleShim(build_add)], dims={"nO": 2})
    model.shims[0].initialize({})
    return model


BATCHES = [UnitBatch(torch.tensor([3.0, 1.0]), np.array([3, 1])), UnitBatch(torch.tensor([0.0, 2.0]), np.array([0, 2]))]


def test_every_vector_comes_to_its_row():
    for is_train in (False, True):
        vectors, _ = run_batches(layer(), iter(BATCHES), 4, is_train, None)
        np.testing.assert_array_equal(vectors, np.repeat(np.arange(4)[:, None] + 0.5, 2, axis=1).astype("f4"))


def test_gradients():
    model, given = layer(), np.zeros((2, 1), "f4")
    _, backprop = run_batches(model, BATCHES, 4, True, given)
    d_given = backprop(np.array([[1, 0], [2, 0], [4, 0], [8, 0]], "f4"))
    assert float(model.shims[0].module.plus.grad) == 15.0
    np.testing.assert_array_equal(d_given, [[8 + 1], [2 + 4]])


def test_no_batches():
    vectors, backprop = run_batches(layer(), [], 0, True, None)
    assert vectors.shape == (0, 2) and backprop(vectors) is None


def test_mean_over_the_rows_of_a_token():
    model, rows = layer(), np.arange(6, dtype="f4").reshape(3, 2)
    pooled, backprop = pool_tokens(model, UnitRows(rows, np.array([2, 1])))
    np.testing.assert_array_equal(pooled, [[1, 2], [4, 5]])
    np.testing.assert_array_equal(backprop(np.array([[2, 4], [6, 8]], "f4")), [[1, 2], [1, 2], [6, 8]])
    same, _ = pool_tokens(model, UnitRows(rows, np.ones(3, "i8")))
    assert same is rows
