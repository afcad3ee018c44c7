import math

import pytest
import torch
from thinc.api import get_current_ops
from tolerance import assert_close, near

from spacy_lexner.training.optimizers.averages import MAX_DECAY, N_RISING, decay_between, move_average

OPERATIONS = 30  # multiplications and divisions in a product of decays


@pytest.mark.parametrize("n_updates", [1, 100, 200_000])
def test_averages_are_those_of_thinc(n_updates):
    average, weights = torch.tensor([[0.5, -2.0]]), torch.tensor([[1.5, 3.0]])
    expected = average.numpy().copy()
    move_average(average, weights, n_updates)
    get_current_ops().update_averages(expected, weights.numpy(), n_updates)
    assert_close(average, expected, OPERATIONS)


@pytest.mark.parametrize("last", [0, 1, 40, N_RISING - 1, N_RISING, N_RISING + 1, N_RISING + 500])
def test_what_is_left_of_an_average_is_the_product_of_the_decays(last):
    since = [n for n in (0, 1, 39, last - 100, last - 1, last) if 0 <= n <= last]
    products = [math.prod(min((1 + n) / (10 + n), MAX_DECAY) for n in range(first + 1, last + 1)) for first in since]
    assert decay_between(torch.tensor(since), last).tolist() == near(products, last + OPERATIONS, 1.0, "float64")
