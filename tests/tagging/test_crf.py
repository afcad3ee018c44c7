import json

import pytest
import torch
from chains import NEVER, TRELLISES, all_paths, random_trellis
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from tolerance import assert_close
from torchcrf import CRF

from spacy_lexner.tagging import crf, crf_windows
from spacy_lexner.tagging.crf import Trellis


@settings(max_examples=80, deadline=None)
@given(TRELLISES)
def test_against_all_paths(trellis):
    log_z = crf.log_partition(trellis)
    tags, best, _ = crf.viterbi(trellis)
    probabilities = crf.posterior(trellis)[2].unary
    start = 0
    for i, ((paths, scores), length) in enumerate(zip(all_paths(trellis), trellis.lengths)):
        rows = slice(start, start + length)
        start += length
        if length == 0:
            assert log_z[i] == best[i] == 0
        elif not paths:
            assert log_z[i] == best[i] == NEVER
            assert not probabilities[rows].any()
        else:
            torch.testing.assert_close(log_z[i], scores.logsumexp(0))
            torch.testing.assert_close(best[i], scores.max())
            torch.testing.assert_close(scores[paths.index(tuple(tags[rows].tolist()))], scores.max())
            share = scores.softmax(0)
            expected = torch.zeros_like(probabilities[rows])
            for path, p in zip(paths, share):
                expected[torch.arange(length), torch.tensor(path)] += p
            torch.testing.assert_close(probabilities[rows], expected)


@settings(max_examples=40, deadline=None)
@given(TRELLISES)
def test_posterior_against_all_paths(trellis):
    """Pairs of neighbours, as the probability of the second times that of the first given the second."""
    log_z, _, (unary, odds, weights, per_mass) = crf.posterior(trellis)
    torch.testing.assert_close(log_z, crf.log_partition(trellis))
    start = 0
    for (paths, scores), length in zip(all_paths(trellis), trellis.lengths):
        for t in range(length - 1):
            row = start + t
            pairs = odds[row][:, None] * weights * (per_mass[row] * unary[row + 1])
            expected = torch.zeros_like(pairs)
            for path, p in zip(paths, scores.softmax(0)):
                expected[path[t], path[t + 1]] += p
            torch.testing.assert_close(pairs, expected)
        start += length


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_gradients(share):
    emissions, transitions, allowed, legal, lengths = random_trellis(3, [4, 0, 1, 3], 3, share)
    allowed[:, 0] = True
    legal[:, 0] = legal[0] = True
    inputs = (emissions.requires_grad_(), transitions.requires_grad_())
    assert torch.autograd.gradcheck(lambda e, t: crf.log_partition(Trellis(e, t, allowed, legal, lengths)), inputs)


def test_no_path_has_no_gradient():
    emissions, transitions, allowed, legal, lengths = random_trellis(0, [2, 3], 2)
    allowed[1] = False
    emissions.requires_grad_(), transitions.requires_grad_()
    log_z = crf.log_partition(Trellis(emissions, transitions, allowed, legal, lengths))
    assert log_z[0] == NEVER and torch.isfinite(log_z[1])
    log_z[1].backward(retain_graph=True)
    alone = emissions.grad.clone()
    log_z[0].backward()
    assert torch.isfinite(emissions.grad).all() and torch.isfinite(transitions.grad).all()
    torch.testing.assert_close(emissions.grad, alone)


def test_a_path_is_never_lost():
    # All weight is on dead ends: the only possible path is 10,000 below, in both directions.
    for dtype in (torch.float32, torch.float64):
        emissions = torch.tensor([[0.0, 1e4], [1e4, 0.0], [0.0, 1e4]], dtype=dtype)
        allowed = torch.tensor([[True, True], [True, True], [True, True]])
        legal = torch.tensor([[True, True, True], [False, False, True], [True, True, False]])
        transitions = torch.zeros(3, 3, dtype=dtype)
        emissions.requires_grad_()
        log_z = crf.log_partition(Trellis(emissions, transitions, allowed, legal, [3]))
        log_z.backward()
        assert torch.isfinite(log_z).all() and torch.isfinite(emissions.grad).all()
        assert_close(emissions.grad.sum(1), torch.ones(3), n_terms=2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(dtype):
    emissions, transitions, *rest = random_trellis(1, [200, 30], 5, dtype=torch.float32)
    half = Trellis(emissions.to(dtype), transitions.to(dtype), *rest)
    single = Trellis(half.emissions.float(), half.transitions.float(), *rest)
    log_z = crf.log_partition(half)
    assert log_z.dtype == torch.float32
    assert torch.equal(log_z, crf.log_partition(single))
    assert crf.posterior(half)[2].unary.dtype == torch.float32


def test_long_sequence_keeps_its_precision():
    trellis = random_trellis(5, [5000], 5)
    free = crf.log_partition(trellis)
    rows = crf.posterior(trellis)[2].unary.sum(1)
    assert torch.isfinite(free).all()
    assert_close(rows, torch.ones(5000), 2 * 5000 * 5, dtype="float64")  # steps forward and backward, and tags


def test_nothing_at_all():
    trellis = random_trellis(0, [0, 0], 3)
    assert crf.log_partition(trellis).tolist() == [0, 0]
    assert len(crf.viterbi(trellis).tags) == len(crf.posterior(trellis)[2].unary) == 0


@pytest.mark.parametrize("seed", range(3))
def test_against_pytorch_crf(seed):
    n_tags, lengths = 6, [9, 5, 1, 7]
    emissions, transitions, allowed, legal, _ = random_trellis(seed, lengths, n_tags)
    peer = CRF(n_tags, batch_first=True).double()
    peer.transitions.data = transitions[:-1, :-1]
    peer.start_transitions.data, peer.end_transitions.data = transitions[-1, :-1], transitions[:-1, -1]
    padded = torch.nn.utils.rnn.pad_sequence(emissions.split(lengths), batch_first=True).requires_grad_()
    mask = torch.arange(9) < torch.tensor(lengths)[:, None]
    gold = torch.randint(n_tags, (sum(lengths),), generator=torch.Generator().manual_seed(seed))
    padded_gold = torch.nn.utils.rnn.pad_sequence(gold.split(lengths), batch_first=True)
    expected = -peer(padded, padded_gold, mask=mask, reduction="none")
    expected.sum().backward()

    right = torch.nn.functional.one_hot(gold, n_tags).bool()
    emissions.requires_grad_(), transitions.requires_grad_()
    free = crf.log_partition(Trellis(emissions, transitions, allowed, legal, lengths))
    loss = free - crf.log_partition(Trellis(emissions, transitions, right, legal, lengths))
    loss.sum().backward()
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(emissions.grad, padded.grad[mask])
    torch.testing.assert_close(transitions.grad[:-1, :-1], peer.transitions.grad)
    torch.testing.assert_close(transitions.grad[-1, :-1], peer.start_transitions.grad)
    torch.testing.assert_close(transitions.grad[:-1, -1], peer.end_transitions.grad)
    path = crf.viterbi(Trellis(emissions, transitions, allowed, legal, lengths)).tags.tolist()
    assert path == [tag for tags in peer.decode(padded, mask=mask) for tag in tags]


def read(path):
    with safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        return tensors, {name: json.loads(value) for name, value in (file.metadata() or {}).items()}


def compare(tensors, emissions, transitions, legal_in_decoding=None):
    """The original implementation's loss of each sentence and path, against ours."""
    lengths = tensors["lengths"].tolist()
    mask = torch.arange(emissions.shape[1]) < tensors["lengths"][:, None]
    flat = emissions[mask]
    anything = torch.ones_like(flat, dtype=torch.bool)
    legal = torch.ones_like(transitions, dtype=torch.bool)
    right = torch.nn.functional.one_hot(tensors["tags"][mask], flat.shape[1]).bool()
    free = crf.log_partition(Trellis(flat, transitions, anything, legal, lengths))
    loss = free - crf.log_partition(Trellis(flat, transitions, right, legal, lengths))
    n_terms = max(lengths) + flat.shape[1]
    assert_close(loss, tensors["loss_per_seq"].reshape(-1), n_terms)
    legal = legal if legal_in_decoding is None else legal_in_decoding
    path, scores, _ = crf.viterbi(Trellis(flat, transitions, anything, legal, lengths))
    assert path.tolist() == tensors["viterbi"][mask].tolist()
    return loss, scores


def test_golden_yj(fixtures_dir):
    tensors, _ = read(fixtures_dir / "crf" / "yj_crf.safetensors")
    transitions = torch.zeros(8, 8)
    transitions[:-1, :-1] = tensors["transitions"]
    transitions[-1, :-1], transitions[:-1, -1] = tensors["start"], tensors["end"]
    loss, _ = compare(tensors, tensors["emissions"], transitions)
    n_terms = int(tensors["lengths"].sum()) + 7
    assert_close(loss.sum(), tensors["loss_sum"][0], n_terms)
    assert_close(loss.mean(), tensors["loss_mean"][0], n_terms)


def test_golden_lw(fixtures_dir):
    """There, START and STOP are ordinary tags: a path may even pass through them."""
    tensors, meta = read(fixtures_dir / "crf" / "lw_crf.safetensors")
    transitions = torch.zeros(10, 10)
    transitions[:-1, :-1] = tensors["transitions"]
    transitions[-1, :-1] = tensors["transitions"][meta["START_TAG"]]
    transitions[:-1, -1] = tensors["transitions"][:, meta["STOP_TAG"]]
    compare(tensors, tensors["emissions"], transitions)


@pytest.mark.parametrize("start_end", [0, 1])
@pytest.mark.parametrize("constrained", [0, 1])
def test_golden_fastnlp(fixtures_dir, start_end, constrained):
    """There, constraints apply only to paths, and to the end only with start and end scores."""
    tensors, meta = read(fixtures_dir / "crf" / "crf_fastnlp.safetensors")
    prefix = f"startend{start_end}_constrained{constrained}."
    case = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    case["lengths"] = tensors["lengths"]
    transitions = torch.zeros(10, 10)
    transitions[:-1, :-1] = case["trans"]
    if start_end:
        transitions[-1, :-1], transitions[:-1, -1] = case["start"], case["end"]
    legal = torch.ones(10, 10, dtype=torch.bool)
    if constrained:
        legal[:] = False
        for before, after in meta["allowed_transitions"]:
            legal[{9: 9, 10: 9}.get(before, before), {10: 9}.get(after, after)] = True
        if not start_end:
            legal[:-1, -1] = True
    _, scores = compare(case, case["emissions"], transitions, legal)
    assert_close(scores, case["viterbi_score"], n_terms=max(case["lengths"].tolist()))


@pytest.mark.gpu
def test_same_on_a_gpu():
    trellis = random_trellis(0, [30, 0, 7, 1], 9, 0.8)
    device = torch.device("cuda")
    moved = Trellis(*(part.to(device) if isinstance(part, torch.Tensor) else part for part in trellis))
    torch.testing.assert_close(crf.log_partition(moved).cpu(), crf.log_partition(trellis))
    expected = crf.posterior(trellis)[2].unary
    torch.testing.assert_close(crf.posterior(moved)[2].unary.cpu(), expected)
    assert crf.viterbi(moved).tags.tolist() == crf.viterbi(trellis).tags.tolist()
    assert crf_windows.viterbi(moved, window=8, margin=2)[0].tolist() == crf.viterbi(trellis).tags.tolist()


@settings(max_examples=80, deadline=None)
@given(TRELLISES, st.sampled_from([1, 2, 7]))
def test_k_best_against_all_paths(trellis, k):
    tags, scores = crf.k_best(trellis, k)
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


def test_the_best_of_k_is_that_of_viterbi():
    trellis = random_trellis(0, [40, 0, 7, 1], 9, 0.9)
    best = crf.viterbi(trellis)
    tags, scores = crf.k_best(trellis, 3)
    assert tags[:, 0].tolist() == best.tags.tolist() and scores[:, 0].tolist() == best.scores.tolist()


def test_k_best_cuts_large_batches(monkeypatch):
    trellis = random_trellis(1, [5, 0, 3, 9, 2], 4)
    together = crf.k_best(trellis, 3)
    monkeypatch.setattr(crf, "MAX_CANDIDATES", 100)
    alone = crf.k_best(trellis, 3)
    assert all(torch.equal(ours, own) for ours, own in zip(together, alone))


def test_k_best_of_nothing():
    tags, scores = crf.k_best(random_trellis(0, [0, 0], 3), 2)
    assert tags.shape == (0, 2) and scores.shape == (2, 2)
