import copy
import pickle

import torch
from torch import nn
from torch.testing import assert_close

from spacy_lexner.encoders.flat import position_cache
from spacy_lexner.encoders.flat.position_cache import PositionCache
from spacy_lexner.encoders.flat.position_fusion import PositionKeys
from spacy_lexner.encoders.flat.relative_positions import span_distances

WEIGHT = nn.Parameter(torch.randn(4, 5))
NEAR = torch.tensor([[0, 0, 0], [-3, 1, 0], [7, 2, 1]])
FAR = torch.tensor([[0, 0, 0], [200, 1, 4]])


def compute(distances: torch.Tensor) -> PositionKeys:
    compute.calls.append(len(distances))
    return PositionKeys(distances.float() @ WEIGHT)


compute.calls = []


def vectors(cache: PositionCache, triples: torch.Tensor) -> torch.Tensor:
    keys = cache.keys(triples, [WEIGHT], 5, compute)
    return keys.vectors[keys.lookup]


def test_every_position_has_its_vector():
    cache = PositionCache()
    compute.calls.clear()
    for triples in (NEAR, FAR, NEAR, FAR):
        assert_close(vectors(cache, triples), span_distances(triples).float() @ WEIGHT)
    assert len(compute.calls) == 2


def test_it_grows_and_does_not_shrink():
    cache = PositionCache()
    compute.calls.clear()
    vectors(cache, torch.tensor([[0, 5, 0]]))
    vectors(cache, torch.tensor([[90, 0, 0]]))
    vectors(cache, torch.tensor([[90, 5, 5]]))
    assert len(compute.calls) == 2


def test_a_lookup_of_the_fusion_is_followed():
    triples = torch.tensor([[1, 0, 0], [2, 0, 0]])
    table = torch.randn(3, 5)

    def by_start(distances):
        return PositionKeys(table, distances[:, 0].clamp(0, 2))

    keys = PositionCache().keys(triples, [WEIGHT], 5, by_start)
    assert torch.equal(keys.vectors[keys.lookup], table[1:])


def test_too_large():
    far = torch.tensor([[position_cache.MAX_BYTES, 0, 0]])
    cache = PositionCache()
    assert cache.keys(far, [WEIGHT], 5, compute) is None
    assert vectors(cache, NEAR).shape == (3, 5)


def test_copies_are_empty():
    cache = PositionCache()
    vectors(cache, NEAR)
    for other in (copy.copy(cache), copy.deepcopy(cache), pickle.loads(pickle.dumps(cache))):
        assert other._held is None
    cache.clear()
    assert cache._held is None
