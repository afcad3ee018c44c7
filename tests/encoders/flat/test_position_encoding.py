import math

import pytest
import torch
from torch.testing import assert_close

from spacy_lexner.encoders.flat.options import Positions
from spacy_lexner.encoders.flat.position_encoding import DistanceEncoding, sinusoids


@pytest.mark.parametrize("width", [4, 7, 10])
def test_sinusoids_by_the_formula(width):
    positions = torch.tensor([-5, 0, 3, 2000])
    encoded = sinusoids(positions, width)
    half = width // 2
    for row, position in zip(encoded, positions.tolist()):
        for k in range(half):
            angle = position * 10000 ** (-k / (half - 1))
            assert row[k] == pytest.approx(math.sin(angle), abs=1e-4)
            assert row[half + k] == pytest.approx(math.cos(angle), abs=1e-4)
    assert width % 2 == 0 or (encoded[:, -1] == 0).all()


def test_distances_have_no_limit_and_a_sign():
    encoding = DistanceEncoding(8)
    assert_close(encoding(torch.tensor([100_000]), 0), sinusoids(torch.tensor([100_000]), 8))
    assert not torch.allclose(encoding(torch.tensor([-3]), 0), encoding(torch.tensor([3]), 0))
    assert not list(encoding.parameters())


def test_offset_and_normalization():
    distances = torch.tensor([-2, 0, 5])
    assert_close(DistanceEncoding(8, Positions(offset=64))(distances, 0), sinusoids(distances + 64, 8))
    assert_close(DistanceEncoding(8, Positions(normalize=True))(distances, 0).sum(-1), torch.ones(3))


def test_learned_tables_start_as_sinusoids_and_end_somewhere():
    encoding = DistanceEncoding(8, Positions(learned=True, max_distance=4))
    assert_close(encoding(torch.arange(-4, 5), 2), sinusoids(torch.arange(-4, 5), 8))
    assert_close(encoding(torch.tensor([-90, 90]), 0), encoding(torch.tensor([-4, 4]), 0))
    encoding(torch.tensor([1]), 0).sum().backward()
    assert encoding.tables[0].grad[5].eq(1).all()


def test_tables_are_shared_or_not():
    assert len(DistanceEncoding(8, Positions(learned=True)).tables) == 1
    own = DistanceEncoding(8, Positions(learned=True, share_tables=False))
    own.tables[3].data.zero_()
    one = torch.tensor([1])
    assert own(one, 3).eq(0).all()
    assert own(one, 0).ne(0).any()


def test_impossible_sizes():
    with pytest.raises(ValueError, match="at least 4 values, not 3"):
        DistanceEncoding(3)
    with pytest.raises(ValueError, match="max_distance = 0"):
        Positions(max_distance=0)
