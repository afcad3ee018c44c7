import pytest
import torch
from torch.testing import assert_close

from spacy_lexner.encoders.flat.absolute_positions import AbsolutePositions
from spacy_lexner.encoders.flat.options import Positions
from spacy_lexner.encoders.flat.position_encoding import sinusoids

STARTS, ENDS = torch.tensor([[0, 1, 0]]), torch.tensor([[0, 1, 7000]])


FUSIONS = ["add", "concat", "nonlinear_add", "nonlinear_concat", "add_nonlinear", "concat_nonlinear"]


@pytest.mark.parametrize("fusion", FUSIONS)
def test_by_the_formula(fusion):
    torch.manual_seed(0)
    x = torch.randn(1, 3, 8)
    s, e = sinusoids(STARTS, 8), sinusoids(ENDS, 8)
    layer = AbsolutePositions(8, Positions(absolute=fusion))
    both = torch.cat((s, e), dim=-1)
    expected = {
        "add": lambda: x + s + e,
        "concat": lambda: layer.output(torch.cat((x, both), dim=-1)),
        "nonlinear_add": lambda: x + layer.position(both),
        "nonlinear_concat": lambda: layer.output(torch.cat((x, layer.position(both)), dim=-1)),
        "add_nonlinear": lambda: layer.output(x + s + e),
        "concat_nonlinear": lambda: layer.output(torch.cat((x, both), dim=-1)),
    }[fusion]()
    assert_close(layer(x, STARTS, ENDS), expected)
    for part in (layer.position, layer.output):
        n_layers = sum(isinstance(module, torch.nn.Linear) for module in part.modules())
        wanted = part is (layer.output if fusion.endswith("_nonlinear") else layer.position) and "nonlinear" in fusion
        assert n_layers == (2 if wanted else int(part is layer.output and "concat" in fusion))


def test_learned_tables():
    layer = AbsolutePositions(8, Positions(absolute="add", learned=True, max_distance=10))
    x = torch.zeros(1, 3, 8)
    assert_close(layer(x, STARTS, ENDS), sinusoids(STARTS, 8) + sinusoids(ENDS.clamp(max=10), 8))
    layer(x, STARTS, ENDS).sum().backward()
    assert all(table.grad.any() for table in layer.tables)


def test_normalized():
    layer = AbsolutePositions(8, Positions(absolute="add", normalize=True))
    assert_close(layer(torch.zeros(1, 3, 8), STARTS, ENDS).sum(-1), torch.full((1, 3), 2.0), atol=1e-4, rtol=1e-4)
