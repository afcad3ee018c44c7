import itertools

import pytest
import torch
from chains import PROBLEMS, all_paths, random_problem
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lexner.tagging import crf, crf_windows
from spacy_lexner.tagging.crf_windows import cut


@settings(max_examples=40, deadline=None)
@given(PROBLEMS, st.integers(0, 2**31))
def test_segments_against_all_paths(problem, seed):
    generator = torch.Generator().manual_seed(seed)
    tokens, tags, sizes, expected = [], [], [], []
    start = 0
    for (paths, scores), length in zip(all_paths(*problem), problem[-1]):
        if paths:
            first = int(torch.randint(length, (), generator=generator))
            end = int(torch.randint(first + 1, length + 1, (), generator=generator))
            segment = torch.randint(problem[0].shape[1], (end - first,), generator=generator).tolist()
            inside = torch.tensor([list(path[first:end]) == segment for path in paths])
            expected.append(scores.softmax(0)[inside].sum())
            tokens += range(start + first, start + end)
            tags += segment
            sizes.append(end - first)
        start += length
    if sizes:
        log_p = crf_windows.segment_log_probs(*problem, torch.tensor(tokens), torch.tensor(tags), sizes)
        torch.testing.assert_close(log_p.exp(), torch.stack(expected))


@given(st.lists(st.integers(0, 80), max_size=6), st.integers(1, 5), st.integers(1, 9))
def test_windows_decide_each_token_once(lengths, margin, part):
    windows = list(cut(lengths, part + 2 * margin, margin))
    assert [token for w in windows for token in range(w.begin, w.end)] == list(range(sum(lengths)))
    assert {w.sequence for w in windows} == set(range(len(lengths)))
    edges = list(itertools.accumulate(lengths, initial=0))
    for w in windows:
        begin, end = edges[w.sequence], edges[w.sequence + 1]
        if lengths[w.sequence] <= 2 * (part + 2 * margin):
            assert w[1:] == (begin, end, begin, end)
        else:
            assert w.size <= part + 2 * margin
            assert (w.start, w.stop) == (max(begin, w.begin - margin), min(end, w.end + margin))


def some_runs(seed, lengths, n_tags):
    """Runs of tokens, some over the borders of windows, with any tags."""
    generator = torch.Generator().manual_seed(seed)
    n = sum(lengths)
    tokens, sizes = [], []
    edges = list(itertools.accumulate(lengths, initial=0))
    for first in torch.randint(n, (60,), generator=generator).tolist():
        end = next(edge for edge in edges if edge > first)
        size = min(end - first, 1 + first % 40)
        tokens += range(first, first + size)
        sizes.append(size)
    return torch.tensor(tokens), torch.randint(n_tags, (len(tokens),), generator=generator), sizes


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", [0.5, 3.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_windows_change_nothing(seed, scale, dtype, monkeypatch):
    lengths, n_tags = [300, 0, 7, 129, 1, 64], 5
    problem = random_problem(seed, lengths, n_tags, scale=scale, dtype=dtype)
    runs = some_runs(seed, lengths, n_tags)
    doubled = crf.Problem(*problem)._replace(emissions=problem[0].double(), transitions=problem[1].double())
    expected = crf.viterbi(*doubled).tags
    whole = crf_windows.segment_log_probs(*problem, *runs)
    monkeypatch.setattr(crf_windows, "BATCH_TOKENS", 150)
    pieces = count_pieces(monkeypatch)
    path, found = crf_windows.viterbi(*problem, window=48, margin=20)
    assert path.tolist() == expected.tolist() and all(found)
    log_p = crf_windows.segment_log_probs(*problem, *runs, window=48, margin=20)
    torch.testing.assert_close(log_p, whole, rtol=0, atol=1e-5)
    torch.testing.assert_close(log_p.exp(), whole.exp(), rtol=0, atol=1e-9)
    assert max(pieces) < 300 or scale > 1  # windows did it, not the second attempt


def count_pieces(monkeypatch):
    """Notes the lengths of all sequences that are solved."""
    lengths = []
    for name in ("viterbi", "posterior"):
        solve = getattr(crf, name)

        def counting(*args, solve=solve):
            lengths.extend(args[4])
            return solve(*args)

        monkeypatch.setattr(crf, name, counting)
    return lengths


def test_what_is_never_forgotten_is_done_in_one_piece(monkeypatch):
    """Two tags that do not mix: the first token decides the tag of the last."""
    n = 200
    emissions = torch.zeros(n, 2)
    emissions[0, 1] = 1.0
    emissions[3:-3, 0] = 0.001
    allowed = torch.ones(n, 2, dtype=torch.bool)
    legal = torch.tensor([[True, False, True], [False, True, True], [True, True, False]])
    problem = (emissions, torch.zeros(3, 3), allowed, legal, [n])
    pieces = count_pieces(monkeypatch)
    path, found = crf_windows.viterbi(*problem, window=32, margin=8)
    assert path.tolist() == [1] * n and found == [True]
    p = crf_windows.segment_log_probs(*problem, torch.tensor([100]), torch.tensor([1]), [1], window=32, margin=8).exp()
    assert p.item() == pytest.approx(1 / (1 + torch.tensor(0.194 - 1).exp().item()), rel=1e-4)
    assert pieces.count(n) == 2


def test_a_window_that_has_no_path_of_its_own():
    """A move that must not begin a sequence is all that is allowed where a window begins."""
    n, margin, window = 200, 8, 32
    emissions, transitions, allowed, legal, lengths = random_problem(0, [n], 3)
    legal[-1, 2] = False
    for part in cut([n], window, margin):
        if part.start:
            allowed[part.start] = torch.tensor([False, False, True])
    path, found = crf_windows.viterbi(emissions, transitions, allowed, legal, lengths, window=window, margin=margin)
    assert found == [True]
    assert path.tolist() == crf.viterbi(emissions, transitions, allowed, legal, lengths).tags.tolist()


def test_no_path():
    emissions, transitions, allowed, legal, lengths = random_problem(0, [200, 3, 5], 3)
    allowed[77] = allowed[201] = False
    for settings_ in ({}, {"window": 32, "margin": 8}):
        _, found = crf_windows.viterbi(emissions, transitions, allowed, legal, lengths, **settings_)
        assert found == [False, False, True]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers(value):
    emissions, *rest = random_problem(0, [200, 5], 3)
    emissions[100, 0] = value
    for settings_ in ({}, {"window": 32, "margin": 8}):
        assert crf_windows.viterbi(emissions, *rest, **settings_)[1] == [False, True]


def test_nothing_at_all():
    for lengths in ([], [0, 0]):
        problem = random_problem(0, lengths, 3)
        path, found = crf_windows.viterbi(*problem)
        assert len(path) == 0 and found == [True] * len(lengths)
