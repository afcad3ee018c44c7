import pytest
import torch
from chains import NEVER, PROBLEMS, all_paths, random_problem
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lexner.tagging import crf, crf_k_best


@settings(max_examples=80, deadline=None)
@given(PROBLEMS, st.sampled_from([1, 2, 7]))
def test_against_all_paths(problem, k):
    tags, scores = crf_k_best.k_best(*problem, k)
    assert tags.shape == (sum(problem[-1]), k) and scores.shape == (len(problem[-1]), k)
    start = 0
    for i, ((paths, expected), length) in enumerate(zip(all_paths(*problem), problem[-1])):
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
    problem = random_problem(0, [40, 0, 7, 1], 9, 0.9)
    best = crf.viterbi(*problem)
    tags, scores = crf_k_best.k_best(*problem, 3)
    assert tags[:, 0].tolist() == best.tags.tolist() and scores[:, 0].tolist() == best.scores.tolist()


def test_large_batches_are_cut(monkeypatch):
    problem = random_problem(1, [5, 0, 3, 9, 2], 4)
    together = crf_k_best.k_best(*problem, 3)
    monkeypatch.setattr(crf_k_best, "MAX_CANDIDATES", 100)
    alone = crf_k_best.k_best(*problem, 3)
    assert together.tags.tolist() == alone.tags.tolist() and together.scores.tolist() == alone.scores.tolist()


@pytest.mark.parametrize("lengths", [[], [0, 0]])
def test_nothing_at_all(lengths):
    tags, scores = crf_k_best.k_best(*random_problem(0, lengths, 3), 2)
    assert tags.shape == (0, 2) and scores.shape == (len(lengths), 2)
