import pytest
import torch

from spacy_lexner.encoders.elmo import onednn, recurrent_prediction, repeated_product
from spacy_lexner.encoders.elmo.recurrent_prediction import predict_direction
from spacy_lexner.encoders.elmo.recurrent_steps import run_steps
from spacy_lexner.encoders.elmo.repeated_product import Layouts

SIZES = [4, 4, 3, 1, 1, 1, 1, 1]
INPUT, CELL, PROJECTION = 2, 6, 3


def make_case():
    torch.manual_seed(0)
    shapes = ((sum(SIZES), INPUT), (4, PROJECTION), (4, CELL))
    shapes += ((4 * CELL, INPUT), (4 * CELL, PROJECTION), (4 * CELL,), (PROJECTION, CELL))
    return [torch.randn(shape) for shape in shapes]


def predict(*tensors):
    outputs, cells = torch.full((sum(SIZES), PROJECTION), 9.0), torch.full((sum(SIZES), CELL), 9.0)
    options = {"sizes": SIZES, "clips": (0.4, 0.3), "layouts": Layouts()}
    predict_direction(*tensors, **options, outputs=outputs, cells=cells)
    return outputs, cells


def at_once(x, hidden, cell, input_weight, recurrent, bias, projection):
    """All gates in one block, by torch's own products."""
    outputs, cells = torch.empty(sum(SIZES), PROJECTION), torch.empty(sum(SIZES), CELL)
    gates = x @ input_weight.T + bias
    run_steps(gates, hidden, cell, recurrent.T, projection.T, SIZES, 0.4, 0.3, outputs, cells)
    return outputs, cells


@pytest.mark.parametrize("block_rows", [1, 5, 8, 100])
@pytest.mark.parametrize("by_onednn", [False, True])
def test_blocks_of_steps_are_all_steps(monkeypatch, block_rows, by_onednn):
    monkeypatch.setattr(recurrent_prediction, "BLOCK_ROWS", block_rows)
    monkeypatch.setattr(onednn, "is_faster", lambda weight, n_rows: by_onednn)
    case = make_case()
    for values, expected in zip(predict(*case), at_once(*case)):
        torch.testing.assert_close(values, expected)


@pytest.mark.parametrize("large", [0, repeated_product.LARGE])
def test_state_and_weights_stay_and_results_are_no_tensors_of_inference(monkeypatch, large):
    monkeypatch.setattr(repeated_product, "LARGE", large)
    case = make_case()
    before = [values.clone() for values in case]
    with torch.no_grad():
        results = predict(*case)
    assert all(torch.equal(values, old) for values, old in zip(case, before))
    assert not any(values.is_inference() for values in results)
