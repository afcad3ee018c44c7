import pytest
import torch
from flat_reference import lattices, pair_distances
from hypothesis import given, settings

from spacy_lexner.encoders.flat import relative_positions
from spacy_lexner.encoders.flat.relative_positions import RelativePositions


def assert_every_pair_is_found(positions, starts, ends, mask):
    """Each valid query is in one chunk, and the distances it finds for each valid key are those of the pair."""
    n_tokens = starts.shape[1]
    expected = pair_distances(starts, ends).view(-1, n_tokens, 4)
    keys = mask.unsqueeze(1).expand(-1, n_tokens, -1).reshape(-1, n_tokens)
    seen = []
    for section in positions.sections:
        assert len(section.triples.unique(dim=0)) == len(section.triples)
        for chunk in section.chunks:
            assert int(chunk.pairs.min()) >= 0 and int(chunk.pairs.max()) < len(chunk.columns)
            found = section.distances[chunk.columns[chunk.pairs]]
            valid = keys[chunk.rows]
            assert torch.equal(found[valid], expected[chunk.rows][valid])
            seen.extend(chunk.rows.tolist())
    assert sorted(seen) == mask.view(-1).nonzero().view(-1).tolist()


@given(lattices())
@settings(deadline=None)
def test_finds_every_pair(batch):
    assert_every_pair_is_found(RelativePositions(*batch), *batch)


@given(lattices())
@settings(deadline=None)
def test_finds_every_pair_however_it_is_cut(batch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relative_positions, "CHUNK_SCORES", 12)
        patch.setattr(relative_positions, "SMALL_CHUNK_SCORES", 3)
        patch.setattr(relative_positions, "SECTION_ROWS", 7)
        positions = RelativePositions(*batch)
    assert_every_pair_is_found(positions, *batch)


def test_long_spans_add_few_positions():
    n = 400
    starts = torch.tensor([[*range(n), 0, 3, 0]])
    ends = torch.tensor([[*range(n), n - 1, 4, n - 1]])
    positions = RelativePositions(starts, ends, torch.ones_like(starts, dtype=torch.bool))
    n_triples = sum(len(section.triples) for section in positions.sections)
    assert n_triples == 2 * n - 1 + 4 * n + 4  # characters to characters, to and from each word, words to words


def test_queries_of_equal_length_are_cut_into_windows():
    n = 300
    starts = torch.arange(n).expand(4, n)
    positions = RelativePositions(starts, starts, torch.ones(4, n, dtype=torch.bool))
    chunks = positions.sections[0].chunks
    assert len(chunks) > 2
    assert all(len(chunk.columns) < 1.6 * n for chunk in chunks)
    assert all(len(chunk.rows) * len(chunk.columns) <= 1.2 * relative_positions.CHUNK_SCORES for chunk in chunks)


def test_a_batch_of_empty_texts():
    empty = torch.zeros(2, 1, dtype=torch.long)
    assert RelativePositions(empty, empty, empty.bool()).sections == []


def test_a_span_that_ends_before_it_starts():
    starts, ends = torch.tensor([[2]]), torch.tensor([[1]])
    with pytest.raises(ValueError, match="ends before it starts"):
        RelativePositions(starts, ends, starts.bool())
    RelativePositions(starts, ends, torch.zeros(1, 1, dtype=torch.bool))  # padding may hold anything
