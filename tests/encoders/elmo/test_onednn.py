import pytest
import torch

from spacy_lexner.encoders.elmo import onednn

needs_onednn = pytest.mark.skipif(not onednn.is_available(torch.ones(1, 1)), reason="a build of torch without oneDNN")


@needs_onednn
@pytest.mark.parametrize("n_rows", [1, 5, 64])
def test_products_are_those_of_torch(n_rows):
    torch.manual_seed(0)
    weight, bias, x = torch.randn(12, 7), torch.randn(12), torch.randn(64, 7)[:n_rows]
    for layout in (weight, weight.mT.contiguous().mT, onednn.pack(weight)):
        torch.testing.assert_close(onednn.linear(x, layout), x @ weight.T)
        torch.testing.assert_close(onednn.linear(x, layout, bias), x @ weight.T + bias)


@pytest.mark.parametrize("weight", [torch.ones(3, 2).double(), torch.ones(3, 2, device="meta")])
def test_other_types_and_devices_have_none(weight):
    assert not onednn.is_available(weight)


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert not onednn.is_available(torch.ones(3, 2))


@pytest.fixture
def measured(monkeypatch):
    """The shapes that are measured, in place of what takes time; oneDNN wins."""
    shapes = []

    def seconds(multiply):
        shapes.append(tuple(multiply().shape))
        return len(shapes)

    onednn._wins.cache_clear()
    monkeypatch.setattr(onednn, "_seconds", seconds)
    yield shapes
    onednn._wins.cache_clear()


@needs_onednn
def test_a_shape_is_measured_once(measured):
    assert onednn.is_faster(torch.ones(12, 7), 5)
    assert measured == [(8, 12)] * 2
    assert onednn.is_faster(torch.ones(12, 7), 8)
    assert len(measured) == 2
    onednn.is_faster(torch.ones(12, 7), 9)
    assert measured[2:] == [(16, 12)] * 2


@needs_onednn
def test_large_products_are_measured_in_part(measured):
    onednn.is_faster(torch.ones(2 * onednn.MOST_OUTPUTS, 3), 10 * onednn.MOST_ROWS)
    assert measured == [(onednn.MOST_ROWS, onednn.MOST_OUTPUTS)] * 2


@needs_onednn
def test_a_measurement_ends():
    assert onednn.is_faster(torch.ones(12, 7), 3) in (True, False)
