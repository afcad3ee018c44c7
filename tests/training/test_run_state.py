"""The state of an optimiser returns to the parameters that it belongs to, or not at all."""

import numpy as np
import pytest
from thinc.api import Adam, Linear

from spacy_lexner.training.run_state import load_optimizer, save_optimizer


def updated():
    model, optimizer = Linear(2, 3).initialize(), Adam(0.1)
    _, backprop = model.begin_update(np.ones((1, 3), "f4"))
    backprop(np.ones((1, 2), "f4"))
    model.finish_update(optimizer)
    return model, optimizer


def test_the_state_comes_back():
    model, optimizer = updated()
    arrays, counts = save_optimizer(optimizer, [("tagger", model)])
    again = Adam(0.1)
    load_optimizer(again, [("tagger", model)], arrays, counts)
    assert dict(again.nr_update) == dict(optimizer.nr_update) and len(counts) == 2
    assert all((again.mom1[key] == moment).all() for key, moment in optimizer.mom1.items())


def test_a_parameter_that_the_models_lack():
    model, optimizer = updated()
    arrays, counts = save_optimizer(optimizer, [("tagger", model)])
    with pytest.raises(ValueError, match=r"the parameter 'tagger/0/W', which the models lack"):
        load_optimizer(Adam(0.1), [("another", model)], arrays, counts)
