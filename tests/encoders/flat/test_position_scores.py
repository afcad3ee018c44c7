import copy
import pickle

import torch
from flat_reference import lattices
from hypothesis import assume, given, settings
from tolerance import assert_close
from torch import nn

from spacy_lexner.encoders.flat import position_scores as module
from spacy_lexner.encoders.flat.distinct_positions import DistinctPositions, triple_distances
from spacy_lexner.encoders.flat.position_scores import PositionCache, position_scores
from spacy_lexner.encoders.flat.positions import PositionKeys

HEADS, SIZE = 2, 3


def operands(batch: tuple, seed: int = 0) -> tuple:
    torch.manual_seed(seed)
    positions = DistinctPositions(*batch)
    assume(positions.sections)
    (section,) = positions.sections
    queries = torch.randn(HEADS, batch[0].numel(), SIZE, dtype=torch.float64, requires_grad=True)
    vectors = torch.randn(len(section.triples), HEADS * SIZE, dtype=torch.float64, requires_grad=True)
    return section, queries, vectors


@given(lattices())
@settings(deadline=None, max_examples=40)
def test_scores_each_pair(batch):
    starts, ends, mask = batch
    section, queries, vectors = operands(batch)
    n = starts.shape[1]
    scores = position_scores(queries, PositionKeys(vectors), section, n).view(HEADS, *starts.shape, n)
    triples = section.triples.tolist()
    for b, i in mask.nonzero().tolist():
        for j in mask[b].nonzero().view(-1).tolist():
            triple = [
                int(x) for x in (starts[b, i] - starts[b, j], ends[b, i] - starts[b, i], ends[b, j] - starts[b, j])
            ]
            key = vectors[triples.index(triple)].view(HEADS, SIZE)
            query = queries[:, b * n + i]
            assert_close(scores[:, b, i, j], (query * key).sum(-1), SIZE, "float64", scale=(query * key).abs().sum())
    assert (scores[:, ~mask] == 0).all()


@given(lattices(max_lattices=2, max_characters=4, max_words=3))
@settings(deadline=None, max_examples=10)
def test_gradients(batch):
    section, queries, vectors = operands(batch)
    n, mask = batch[0].shape[1], batch[2]
    keys = mask.unsqueeze(1).expand(-1, n, -1).reshape(-1, n)

    def valid_scores(queries, vectors):
        return position_scores(queries, PositionKeys(vectors), section, n)[:, keys]

    assert torch.autograd.gradcheck(valid_scores, (queries, vectors))


def test_positions_may_share_a_vector():
    starts = torch.tensor([[0, 1, 2]])
    section, queries, vectors = operands((starts, starts + 1, torch.ones_like(starts).bool()))
    lookup = torch.tensor([0, 1, 1, 2, 0])
    shared = PositionKeys(vectors[:3].detach().requires_grad_(), lookup)
    written_out = PositionKeys(shared.vectors[lookup].detach().requires_grad_())
    gradients = []
    for keys in (shared, written_out):
        scores = position_scores(queries, keys, section, 3)
        gradients.append(torch.autograd.grad(scores.square().sum(), keys.vectors)[0])
    summed = torch.zeros_like(shared.vectors).index_add_(0, lookup, gradients[1])
    assert_close(gradients[0], summed, 2 * starts.numel(), "float64")


# The cache

WEIGHT = nn.Parameter(torch.randn(4, 5))
NEAR = torch.tensor([[0, 1, 1], [-3, 2, 1], [7, 3, 2]])
FAR = torch.tensor([[0, 1, 1], [200, 2, 5]])


def compute(distances: torch.Tensor) -> PositionKeys:
    compute.calls.append(len(distances))
    return PositionKeys(distances.float() @ WEIGHT)


compute.calls = []


def vectors(cache: PositionCache, triples: torch.Tensor) -> torch.Tensor:
    keys = cache.keys(triples, [WEIGHT], 5, compute)
    return keys.vectors[keys.lookup]


def test_in_the_cache_every_position_has_its_vector():
    cache = PositionCache()
    compute.calls.clear()
    for triples in (NEAR, FAR, NEAR, FAR):
        assert_close(vectors(cache, triples), triple_distances(triples).float() @ WEIGHT, len(WEIGHT))
    assert len(compute.calls) == 2


def test_the_cache_grows_and_does_not_shrink():
    cache = PositionCache()
    compute.calls.clear()
    vectors(cache, torch.tensor([[0, 6, 1]]))
    vectors(cache, torch.tensor([[90, 1, 1]]))
    vectors(cache, torch.tensor([[90, 6, 6]]))
    assert len(compute.calls) == 2


def test_a_lookup_of_the_fusion_is_followed():
    triples = torch.tensor([[1, 1, 1], [2, 1, 1]])
    table = torch.randn(3, 5)

    def by_start(distances):
        return PositionKeys(table, distances[:, 0].clamp(0, 2))

    keys = PositionCache().keys(triples, [WEIGHT], 5, by_start)
    assert torch.equal(keys.vectors[keys.lookup], table[1:])


def test_a_cache_that_would_be_too_large():
    far = torch.tensor([[module.MAX_CACHE_BYTES, 1, 1]])
    cache = PositionCache()
    assert cache.keys(far, [WEIGHT], 5, compute) is None
    assert vectors(cache, NEAR).shape == (3, 5)


def test_copies_of_a_cache_are_empty():
    cache = PositionCache()
    vectors(cache, NEAR)
    for other in (copy.copy(cache), copy.deepcopy(cache), pickle.loads(pickle.dumps(cache))):
        assert other._held is None
    cache.clear()
    assert cache._held is None
