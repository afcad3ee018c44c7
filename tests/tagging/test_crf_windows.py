import itertools
import math

import pytest
import torch
from chains import TRELLISES, all_paths, random_trellis
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerance import near

from spacy_lexner.tagging import crf, crf_windows
from spacy_lexner.tagging.crf import Trellis
from spacy_lexner.tagging.crf_windows import cut


@settings(max_examples=40, deadline=None)
@given(TRELLISES, st.integers(0, 2**31))
def test_runs_against_all_paths(trellis, seed):
    generator = torch.Generator().manual_seed(seed)
    tokens, tags, sizes, expected = [], [], [], []
    start = 0
    for (paths, scores), length in zip(all_paths(trellis), trellis.lengths):
        if paths:
            first = int(torch.randint(length, (), generator=generator))
            end = int(torch.randint(first + 1, length + 1, (), generator=generator))
            segment = torch.randint(trellis[0].shape[1], (end - first,), generator=generator).tolist()
            inside = torch.tensor([list(path[first:end]) == segment for path in paths])
            expected.append(scores.softmax(0)[inside].sum())
            tokens += range(start + first, start + end)
            tags += segment
            sizes.append(end - first)
        start += length
    if sizes:
        log_p = crf_windows.run_log_probs(
            crf_windows.marginals(trellis), torch.tensor(tokens), torch.tensor(tags), sizes
        )
        torch.testing.assert_close(log_p.exp(), torch.stack(expected))


@given(st.lists(st.integers(0, 80), max_size=6), st.integers(1, 5), st.integers(1, 9))
def test_windows_decide_each_token_once(lengths, margin, part):
    windows = list(cut(lengths, part + 2 * margin, margin))
    assert [token for w in windows for token in range(w.own_start, w.own_end)] == list(range(sum(lengths)))
    assert {w.sequence for w in windows} == set(range(len(lengths)))
    edges = list(itertools.accumulate(lengths, initial=0))
    for w in windows:
        begin, end = edges[w.sequence], edges[w.sequence + 1]
        if lengths[w.sequence] <= 2 * (part + 2 * margin):
            assert w[1:] == (begin, end, begin, end)
        else:
            assert w.size <= part + 2 * margin
            assert (w.start, w.end) == (max(begin, w.own_start - margin), min(end, w.own_end + margin))


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
    trellis = random_trellis(seed, lengths, n_tags, scale=scale, dtype=dtype)
    runs = some_runs(seed, lengths, n_tags)
    doubled = trellis._replace(emissions=trellis.emissions.double(), transitions=trellis.transitions.double())
    expected = crf.viterbi(doubled).tags
    whole = crf_windows.run_log_probs(crf_windows.marginals(trellis), *runs)
    monkeypatch.setattr(crf_windows, "BATCH_TOKENS", 150)
    pieces = count_pieces(monkeypatch)
    path, found = crf_windows.viterbi(trellis, window=48, margin=20)
    assert path.tolist() == expected.tolist() and all(found)
    log_p = crf_windows.run_log_probs(crf_windows.marginals(trellis, window=48, margin=20), *runs)
    # Each factor of a run, of at most 40 tokens, may be off by what windows may differ where they meet.
    torch.testing.assert_close(log_p, whole, rtol=0, atol=40 * crf_windows.TOLERANCE)
    assert max(pieces) < 300 or scale > 1  # by windows, not by the second attempt


def count_pieces(monkeypatch):
    """Records the lengths of all sequences solved."""
    lengths = []
    for name in ("viterbi", "posterior"):
        solve = getattr(crf, name)

        def counting(trellis, solve=solve):
            lengths.extend(trellis.lengths)
            return solve(trellis)

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
    trellis = Trellis(emissions, torch.zeros(3, 3), allowed, legal, [n])
    pieces = count_pieces(monkeypatch)
    path, found = crf_windows.viterbi(trellis, window=32, margin=8)
    assert path.tolist() == [1] * n and found == [True]
    p = crf_windows.marginals(trellis, window=32, margin=8).unary[100, 1]
    assert p.item() == near(1 / (1 + math.exp(0.194 - 1)), n)
    assert pieces.count(n) == 2


def test_a_window_that_has_no_path_of_its_own():
    """Where a window starts, the only allowed move is one that may not start a sequence."""
    n, margin, window = 200, 8, 32
    trellis = random_trellis(0, [n], 3)
    trellis.legal[-1, 2] = False
    for part in cut([n], window, margin):
        if part.start:
            trellis.allowed[part.start] = torch.tensor([False, False, True])
    path, found = crf_windows.viterbi(trellis, window=window, margin=margin)
    assert found == [True]
    assert path.tolist() == crf.viterbi(trellis).tags.tolist()


def test_no_path():
    trellis = random_trellis(0, [200, 3, 5], 3)
    trellis.allowed[77] = trellis.allowed[201] = False
    for settings_ in ({}, {"window": 32, "margin": 8}):
        _, found = crf_windows.viterbi(trellis, **settings_)
        assert found == [False, False, True]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers(value):
    trellis = random_trellis(0, [200, 5], 3)
    trellis.emissions[100, 0] = value
    for settings_ in ({}, {"window": 32, "margin": 8}):
        assert crf_windows.viterbi(trellis, **settings_)[1] == [False, True]


def test_nothing_at_all():
    for lengths in ([], [0, 0]):
        trellis = random_trellis(0, lengths, 3)
        path, found = crf_windows.viterbi(trellis)
        assert len(path) == 0 and found == [True] * len(lengths)
