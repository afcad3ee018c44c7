import torch
from flat_reference import lattices
from hypothesis import assume, given, settings
from torch.testing import assert_close

from spacy_lexner.encoders.flat.position_fusion import PositionKeys
from spacy_lexner.encoders.flat.relative_positions import RelativePositions
from spacy_lexner.encoders.flat.relative_scores import relative_scores

HEADS, SIZE = 2, 3


def operands(batch: tuple, seed: int = 0) -> tuple:
    torch.manual_seed(seed)
    positions = RelativePositions(*batch)
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
    scores = relative_scores(queries, PositionKeys(vectors), section, n).view(HEADS, *starts.shape, n)
    triples = section.triples.tolist()
    for b, i in mask.nonzero().tolist():
        for j in mask[b].nonzero().view(-1).tolist():
            triple = [
                int(x) for x in (starts[b, i] - starts[b, j], ends[b, i] - starts[b, i], ends[b, j] - starts[b, j])
            ]
            key = vectors[triples.index(triple)].view(HEADS, SIZE)
            query = queries[:, b * n + i]
            assert_close(scores[:, b, i, j], (query * key).sum(-1))
    assert (scores[:, ~mask] == 0).all()


@given(lattices(max_lattices=2, max_characters=4, max_words=3))
@settings(deadline=None, max_examples=10)
def test_gradients(batch):
    section, queries, vectors = operands(batch)
    n, mask = batch[0].shape[1], batch[2]
    keys = mask.unsqueeze(1).expand(-1, n, -1).reshape(-1, n)

    def valid_scores(queries, vectors):
        return relative_scores(queries, PositionKeys(vectors), section, n)[:, keys]

    assert torch.autograd.gradcheck(valid_scores, (queries, vectors))


def test_positions_may_share_a_vector():
    starts = torch.tensor([[0, 1, 2]])
    section, queries, vectors = operands((starts, starts, torch.ones_like(starts).bool()))
    lookup = torch.tensor([0, 1, 1, 2, 0])
    shared = PositionKeys(vectors[:3].detach().requires_grad_(), lookup)
    written_out = PositionKeys(shared.vectors[lookup].detach().requires_grad_())
    gradients = []
    for keys in (shared, written_out):
        scores = relative_scores(queries, keys, section, 3)
        gradients.append(torch.autograd.grad(scores.square().sum(), keys.vectors)[0])
    summed = torch.zeros_like(shared.vectors).index_add_(0, lookup, gradients[1])
    assert_close(gradients[0], summed)
