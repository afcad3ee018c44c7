import pytest
import torch
from flat_reference import lattices
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lexner.encoders.flat import distinct_positions
from spacy_lexner.encoders.flat.distinct_positions import DistinctPositions
from spacy_lexner.encoders.flat.positions import pair_distances


def assert_every_pair_is_found(positions, starts, ends, mask):
    """Each valid query is in one chunk, and the distances it finds for each valid key are those of the pair."""
    n_tokens, n_queries = starts.shape[1], positions.n_queries
    expected = pair_distances(starts, ends)[:, :n_queries].reshape(-1, n_tokens, 4)
    keys = mask.unsqueeze(1).expand(-1, n_queries, -1).reshape(-1, n_tokens)
    seen = []
    for section in positions.sections:
        assert len(section.triples.unique(dim=0)) == len(section.triples)
        for chunk in section.chunks:
            assert int(chunk.pairs.min()) >= 0 and int(chunk.pairs.max()) < len(chunk.columns)
            found = section.distances[chunk.columns[chunk.pairs]]
            valid = keys[chunk.rows]
            assert torch.equal(found[valid], expected[chunk.rows][valid])
            seen.extend(chunk.rows.tolist())
    assert sorted(seen) == mask[:, :n_queries].flatten().nonzero().view(-1).tolist()


@given(lattices(), st.data())
@settings(deadline=None)
def test_finds_every_pair(batch, data):
    n_queries = data.draw(st.none() | st.integers(0, batch[0].shape[1]))
    assert_every_pair_is_found(DistinctPositions(*batch, n_queries), *batch)


@given(lattices(), st.data())
@settings(deadline=None)
def test_finds_every_pair_however_it_is_cut(batch, data):
    n_queries = data.draw(st.none() | st.integers(0, batch[0].shape[1]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinct_positions, "CHUNK_SCORES", 12)
        patch.setattr(distinct_positions, "SMALL_CHUNK_SCORES", 3)
        patch.setattr(distinct_positions, "SECTION_ROWS", 7)
        positions = DistinctPositions(*batch, n_queries)
    assert_every_pair_is_found(positions, *batch)


def test_long_spans_add_few_positions():
    n = 400
    starts = torch.tensor([[*range(n), 0, 3, 0]])
    ends = torch.tensor([[*range(1, n + 1), n, 5, n]])
    positions = DistinctPositions(starts, ends, torch.ones_like(starts, dtype=torch.bool))
    n_triples = sum(len(section.triples) for section in positions.sections)
    assert n_triples == 2 * n - 1 + 4 * n + 4  # characters to characters, to and from each word, words to words


def test_queries_of_equal_length_are_cut_into_windows():
    n = 300
    starts = torch.arange(n).expand(4, n)
    positions = DistinctPositions(starts, starts + 1, torch.ones(4, n, dtype=torch.bool))
    chunks = positions.sections[0].chunks
    assert len(chunks) > 2
    assert all(len(chunk.columns) < 1.6 * n for chunk in chunks)
    assert all(len(chunk.rows) * len(chunk.columns) <= 1.2 * distinct_positions.CHUNK_SCORES for chunk in chunks)


def test_a_batch_of_empty_texts():
    empty = torch.zeros(2, 1, dtype=torch.long)
    assert DistinctPositions(empty, empty, empty.bool()).sections == []


def test_an_empty_span():
    starts, ends = torch.tensor([[2]]), torch.tensor([[2]])
    with pytest.raises(ValueError, match="empty"):
        DistinctPositions(starts, ends, starts.bool())
    DistinctPositions(starts, ends, torch.zeros(1, 1, dtype=torch.bool))  # padding may hold anything
