import warnings

import pytest
import torch

from spacy_lexner.encoders.elmo import recurrent_steps, repeated_product
from spacy_lexner.encoders.elmo.recurrent_steps import compiled_steps, run_steps
from spacy_lexner.encoders.elmo.repeated_product import lay_out

SIZES = [4, 4, 3, 1, 1, 1, 1, 1]
CELL, PROJECTION = 6, 3


def run(function, clips=(0.4, 0.3), part=slice(None)):
    """Outputs, cells and gates of steps with fixed weights."""
    torch.manual_seed(0)
    gates, hidden, cell = torch.randn(2, sum(SIZES), 4 * CELL), torch.randn(2, 5, PROJECTION), torch.randn(2, 5, CELL)
    recurrent, projection = torch.randn(2, 4 * CELL, PROJECTION), torch.randn(2, PROJECTION, CELL)
    outputs, cells = torch.full((2, sum(SIZES), PROJECTION), 9.0), torch.full((2, sum(SIZES), CELL), 9.0)
    weights = (lay_out(weight[part], len(SIZES)) for weight in (recurrent, projection))
    function(gates[part], hidden[part], cell[part], *weights, SIZES, *clips, outputs[part], cells[part])
    return outputs[part], cells[part], gates[part]


@pytest.mark.parametrize("clips", [(0.4, 0.3), (None, None)])
@pytest.mark.parametrize("packed", [False, True])
def test_a_direction_alone_is_what_it_is_beside_the_other(monkeypatch, clips, packed):
    both = run(run_steps, clips)
    if packed:
        monkeypatch.setattr(repeated_product, "LARGE", 0)
    for direction in (0, 1):
        for values, expected in zip(run(run_steps, clips, direction), both):
            torch.testing.assert_close(values, expected[direction])


def test_values_are_clipped():
    outputs, cells, _ = run(run_steps)
    assert outputs.abs().max() == pytest.approx(0.3) and cells.abs().max() == pytest.approx(0.4)
    assert (outputs.abs() < 0.3).any() and (cells.abs() < 0.4).any()


@pytest.mark.parametrize("part", [slice(None), 1])
def test_compiled_steps_give_the_same(part):
    for _ in range(3):  # TorchScript optimises what it has seen
        for values, expected in zip(run(compiled_steps(), part=part), run(run_steps, part=part)):
            torch.testing.assert_close(values, expected)


def test_compiling_is_quiet_and_not_needed(monkeypatch):
    compiled_steps.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(compiled_steps(), torch.jit.ScriptFunction)

    def gone(function):
        raise OSError("could not get source code")

    compiled_steps.cache_clear()
    monkeypatch.setattr(recurrent_steps.torch.jit, "script", gone)
    assert compiled_steps() is run_steps
    compiled_steps.cache_clear()
