"""The lexicon adapter against the paper's equations, written out word by word."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerance import assert_all_close, assert_close, moved

from spacy_lexner.encoders.lebert.model import LexiconAdapter

H, D = 8, 5
N_TERMS = D + 3 * H + 4  # two transformations of a word, its score, the mean over the slots


def make_adapter(empty="zero", dropout=0.1):
    torch.manual_seed(0)
    adapter = LexiconAdapter(H, D, empty=empty, dropout=dropout, initializer_range=0.5).eval()
    for bias in (adapter.word_in.bias, adapter.word_out.bias):
        torch.nn.init.normal_(bias)
    return adapter


def by_the_paper(adapter, hidden, words, slots):
    """Each token separately, with loops; a row of `words` is transformed each time it occurs."""
    fused = torch.empty_like(hidden)
    for b, row in enumerate(slots.tolist()):
        for i, ids in enumerate(row):
            h = hidden[b, i]
            ids = [u for u in ids if u] or ([0] if adapter.empty == "pad" else [])
            z = torch.zeros(H)
            if ids:
                v = [adapter.word_out(torch.tanh(adapter.word_in(words[u]))) for u in ids]
                a = torch.softmax(torch.stack([h @ adapter.attention @ v_j for v_j in v]), dim=0)
                z = sum(a_j * v_j for a_j, v_j in zip(a, v))
            fused[b, i] = adapter.norm(h + z)
    return fused


@pytest.mark.parametrize("empty", ["zero", "pad"])
@settings(max_examples=30, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 4), st.integers(0, 6)),
    seed=st.integers(0, 2**31),
)
def test_equations(empty, sizes, seed):
    n_rows, length, n_slots, n_words = sizes
    adapter, generator = make_adapter(empty), torch.Generator().manual_seed(seed)
    hidden = torch.randn(n_rows, length, H, generator=generator)
    words = torch.randn(1 + n_words, D, generator=generator)
    slots = torch.randint(0, 1 + n_words, (n_rows, length, n_slots), generator=generator)
    expected = by_the_paper(adapter, hidden, words, slots)
    assert_close(adapter(hidden, words, slots), expected, N_TERMS)


def test_gradients_are_those_of_the_equations():
    adapter = make_adapter()
    hidden, words = torch.randn(2, 4, H, requires_grad=True), torch.randn(6, D, requires_grad=True)
    slots = torch.tensor([[[1, 2], [0, 0], [5, 0], [0, 5]], [[3, 3], [4, 1], [0, 0], [2, 0]]])
    weights = torch.randn(2, 4, H)
    leaves = [hidden, words, *adapter.parameters()]
    ours = torch.autograd.grad((adapter(hidden, words, slots) * weights).sum(), leaves)
    theirs = torch.autograd.grad((by_the_paper(adapter, hidden, words, slots) * weights).sum(), leaves)
    assert_all_close(ours, theirs, 2 * N_TERMS)  # forward and backward


def test_token_without_words_keeps_its_vector():
    adapter = make_adapter("zero")
    hidden = torch.randn(1, 3, H)
    fused = adapter(hidden, torch.randn(2, D), torch.zeros(1, 3, 2, dtype=torch.int64))
    assert_close(fused, adapter.norm(hidden), N_TERMS)


def test_the_order_of_slots_and_holes_do_not_matter():
    adapter = make_adapter()
    hidden, words = torch.randn(1, 2, H), torch.randn(4, D)
    left = adapter(hidden, words, torch.tensor([[[3, 1, 0], [2, 0, 0]]]))
    right = adapter(hidden, words, torch.tensor([[[1, 0, 3], [0, 0, 2]]]))
    assert_close(left, right, N_TERMS)


def test_dropout_acts_in_training_only():
    adapter = make_adapter(dropout=0.5)
    arguments = torch.randn(1, 6, H), torch.randn(3, D), torch.ones(1, 6, 2, dtype=torch.int64)
    assert_close(adapter(*arguments), adapter(*arguments), N_TERMS)
    adapter.train()
    assert moved(adapter(*arguments), adapter(*arguments), N_TERMS).any()


def test_unknown_empty_is_refused():
    with pytest.raises(ValueError, match="empty='none'"):
        LexiconAdapter(H, D, empty="none")


def test_half_precision():
    adapter, hidden, words = make_adapter(), torch.randn(1, 3, H, requires_grad=True), torch.randn(3, D)
    slots = torch.tensor([[[1, 2], [0, 0], [2, 0]]])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        fused = adapter(hidden, words, slots)
    n_operations = 5  # two transformations, the scores (two products), the mean
    assert_close(fused.float(), adapter(hidden, words, slots), n_operations, "bfloat16")
    fused.sum().backward()
    assert torch.isfinite(hidden.grad).all() and torch.isfinite(adapter.attention.grad).all()
