import pytest
import torch
from chains import NEVER, TRELLISES, all_paths, random_trellis
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lexner.tagging import crf, k_best


@settings(max_examples=80, deadline=None)
@given(TRELLISES, st.sampled_from([1, 2, 7]))
def test_against_all_paths(trellis, k):
    tags, scores = k_best.k_best(trellis, k)
    assert tags.shape == (sum(trellis[-1]), k) and scores.shape == (len(trellis[-1]), k)
    start = 0
    for i, ((paths, expected), length) in enumerate(zip(all_paths(trellis), trellis.lengths)):
        rows = tags[start : start + length]
        start += length
        if not length:
            assert scores[i].tolist() == [0.0] + [NEVER] * (k - 1)
            continue
        n = min(k, len(paths))
        torch.testing.assert_close(scores[i, :n], expected.sort(descending=True).values[:n])
        assert (scores[i, n:] == NEVER).all()
        found = [tuple(rows[:, rank].tolist()) for rank in range(n)]
        assert len(set(found)) == n
        for path, score in zip(found, scores[i]):
            torch.testing.assert_close(expected[paths.index(path)], score)


def test_the_first_is_that_of_viterbi():
    trellis = random_trellis(0, [40, 0, 7, 1], 9, 0.9)
    best = crf.viterbi(trellis)
    tags, scores = k_best.k_best(trellis, 3)
    assert tags[:, 0].tolist() == best.tags.tolist() and scores[:, 0].tolist() == best.scores.tolist()


def test_large_batches_are_cut(monkeypatch):
    trellis = random_trellis(1, [5, 0, 3, 9, 2], 4)
    together = k_best.k_best(trellis, 3)
    monkeypatch.setattr(k_best, "MAX_CANDIDATES", 100)
    alone = k_best.k_best(trellis, 3)
    assert all(torch.equal(ours, own) for ours, own in zip(together, alone))


@pytest.mark.parametrize("lengths", [[], [0, 0]])
def test_nothing_at_all(lengths):
    tags, scores = k_best.k_best(random_trellis(0, lengths, 3), 2)
    assert tags.shape == (0, 2) and scores.shape == (len(lengths), 2)
