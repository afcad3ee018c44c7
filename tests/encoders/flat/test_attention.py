import copy

import pytest
import torch
from flat_reference import lattices
from hypothesis import given, settings
from hypothesis import strategies as st
from tolerance import assert_all_close, assert_close

from spacy_lexner.encoders.flat import distinct_positions, position_scores
from spacy_lexner.encoders.flat.attention import LatticeAttention
from spacy_lexner.encoders.flat.distinct_positions import DistinctPositions
from spacy_lexner.encoders.flat.options import Attention, Positions
from spacy_lexner.encoders.flat.positions import FUSIONS

WIDTH, HEADS = 12, 3
N_TERMS = 4 * WIDTH + 3 * WIDTH + 23  # fusion, three projections, the mean over the longest lattice


def attention(name: str = "ff", seed: int = 0, **options) -> LatticeAttention:
    torch.manual_seed(seed)
    fusion = FUSIONS[name](WIDTH, Positions()) if name else None
    return LatticeAttention(WIDTH, HEADS, fusion, Attention(**options))


def gradients(module: LatticeAttention, tokens: torch.Tensor, encoded: torch.Tensor, mask: torch.Tensor) -> list:
    torch.manual_seed(1)
    loss = (encoded * torch.randn(encoded.shape))[mask].sum()
    return torch.autograd.grad(loss, [tokens, *module.parameters()], allow_unused=True)


def assert_same(module, batch):
    starts, ends, mask = batch
    torch.manual_seed(2)
    tokens = torch.randn(*starts.shape, WIDTH, requires_grad=True)
    encoded = module(tokens, mask, DistinctPositions(starts, ends, mask))
    expected = module.plain(tokens, mask, starts, ends)
    assert torch.isfinite(encoded).all()
    assert_close(encoded[mask], expected[mask], N_TERMS)
    if mask.any():
        ours, theirs = (gradients(module, tokens, x, mask) for x in (encoded, expected))
        assert_all_close(ours, theirs, 2 * N_TERMS)  # forward and backward
    with torch.no_grad():
        for _ in range(2):  # the second time from the cache
            predicted = module.eval()(tokens, mask, DistinctPositions(starts, ends, mask))
            assert_close(predicted, encoded, N_TERMS)


@pytest.mark.parametrize("name", FUSIONS)
@given(lattices())
@settings(deadline=None, max_examples=25)
def test_equals_the_formula(name, batch):
    assert_same(attention(name), batch)


@given(lattices(), st.booleans(), st.booleans(), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=25)
def test_equals_the_formula_with_every_projection(batch, scaled, queries, keys, positions):
    options = {"project_queries": queries, "project_keys": keys, "project_values": keys, "project_output": queries}
    assert_same(attention("ff", scaled=scaled, project_positions=positions, **options), batch)


@pytest.mark.parametrize("name", FUSIONS)
@given(lattices(max_characters=6))
@settings(deadline=None, max_examples=15)
def test_equals_the_formula_section_by_section(name, batch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distinct_positions, "CHUNK_SCORES", 20)
        patch.setattr(distinct_positions, "SECTION_ROWS", 9)
        assert_same(attention(name), batch)


def sentence(n: int = 8) -> tuple:
    starts = torch.tensor([[*range(n), 0, 2]])
    ends = torch.tensor([[*range(1, n + 1), 2, n]])
    mask = torch.ones_like(starts, dtype=torch.bool)
    return mask, DistinctPositions(starts, ends, mask), torch.randn(1, n + 2, WIDTH)


def predict(module: LatticeAttention, n: int = 8) -> torch.Tensor:
    torch.manual_seed(n)
    mask, positions, tokens = sentence(n)
    with torch.no_grad():
        return module(tokens, mask, positions)


def count_fusions(module: LatticeAttention) -> list:
    calls: list = []
    module.fusion.register_forward_hook(lambda *_: calls.append(1))
    return calls


def test_prediction_keeps_positions():
    module = attention().eval()
    calls = count_fusions(module)
    first = predict(module)
    assert torch.equal(predict(module), first)
    predict(module, 5)  # smaller: already cached
    assert len(calls) == 1
    predict(module, 80)
    assert len(calls) == 2
    assert_close(predict(module), first, N_TERMS)
    assert len(calls) == 2


@pytest.mark.parametrize("change", ["step", "shared memory", "other data", "training"])
def test_prediction_sees_changed_weights(change):
    module = attention().eval()
    predict(module)
    weight = module.fusion.linear.weight
    if change == "step":
        with torch.no_grad():
            weight[0, 0] += 1.0
    elif change == "shared memory":  # as thinc's optimisers change them: torch is not told
        weight.detach().numpy()[0, 0] += 1.0
    elif change == "other data":
        weight.data = weight.data + 1.0
    else:
        predict(module.train())
        module.eval().position.weight.data.mul_(2.0)
    fresh = copy.deepcopy(module)
    assert torch.equal(predict(module), predict(fresh))


def test_copies_start_without_positions():
    module = attention().eval()
    predict(module)
    assert module.cache._held is not None
    assert copy.deepcopy(module).cache._held is None
    assert not any("cache" in key for key in module.state_dict())


def test_positions_that_need_much_memory_are_not_kept(monkeypatch):
    module = attention().eval()
    expected = predict(module)
    module.cache.clear()
    monkeypatch.setattr(position_scores, "MAX_CACHE_BYTES", 1000)
    assert_close(predict(module), expected, N_TERMS)
    assert module.cache._held is None


def test_shifting_a_text_changes_nothing():
    module = attention()
    mask, _, tokens = sentence()
    starts = torch.arange(10).unsqueeze(0)
    here, there = (DistinctPositions(starts + k, starts + k + 1, mask) for k in (0, 1000))
    assert torch.equal(module(tokens, mask, here), module(tokens, mask, there))


def test_a_bias_is_added_and_not_changed():
    module = attention(name="").eval()
    mask, positions, tokens = sentence()
    bias = torch.zeros(HEADS, 10, 10)
    bias[..., 3] = 100.0
    kept = bias.clone()
    with torch.no_grad():
        encoded = module(tokens, mask, positions, bias)
    assert torch.equal(bias, kept)
    assert_close(encoded, module.value(tokens)[:, 3:4].expand_as(encoded), N_TERMS)


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match=r"\(12\).*multiple.*\(5\)"):
        LatticeAttention(12, 5)


def test_second_derivatives_are_refused():
    module = attention()
    mask, positions, tokens = sentence()
    tokens.requires_grad_()
    (gradient,) = torch.autograd.grad(module(tokens, mask, positions).sum(), tokens, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


@pytest.mark.parametrize("options", [{}, {"project_queries": False, "project_keys": True}, {"project_values": False}])
@pytest.mark.parametrize("name", FUSIONS)
def test_half_precision_is_full_precision_but_for_rounding(name, options):
    module = attention(name, **options)
    mask, positions, tokens = sentence()
    tokens.requires_grad_()
    expected = module(tokens, mask, positions)
    with torch.autocast("cpu", torch.bfloat16):
        encoded = module(tokens, mask, positions)
        with torch.no_grad():
            predicted = module.eval()(tokens, mask, positions)
    n_operations = 5  # the fusion, its projection, the queries, the scores, the values
    assert_close(encoded.float(), expected, n_operations, "bfloat16")
    assert_close(predicted.float(), expected, n_operations, "bfloat16")
    full, half = (gradients(module, tokens, x.float(), mask) for x in (expected, encoded))
    flat = [torch.cat([g.flatten() for g in parts if g is not None]) for parts in (full, half)]
    assert torch.cosine_similarity(*flat, dim=0) > 0.999


def test_records_its_weights_in_the_mean_over_heads():
    module, record = attention(project_values=False).eval(), []
    tokens, mask = torch.randn(2, 4, WIDTH), torch.tensor([[True] * 4, [True, True, False, False]])
    places = torch.arange(4).expand(2, 4)
    positions = DistinctPositions(places, places + 1, mask)
    found = module(tokens, mask, positions, None, record)
    (weights,) = record
    assert weights.shape == (2, 4, 4)
    assert_close(weights.sum(-1), torch.ones(2, 4), N_TERMS)
    assert (weights[1, :, 2:] == 0).all()
    assert_close(found, module(tokens, mask, positions), N_TERMS)
    # Where all values are the same in every head, the result is their mean under the weights.
    same = tokens[..., : WIDTH // HEADS].repeat(1, 1, HEADS)
    record.clear()
    found = module(same, mask, positions, None, record)
    by_head = found.view(2, 4, HEADS, -1).mean(2)
    assert_close(by_head, record[0] @ same[..., : WIDTH // HEADS], N_TERMS)
