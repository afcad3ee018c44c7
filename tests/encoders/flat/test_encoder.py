import pytest
import torch
from flat_reference import lattices, load_original, make_encoder, original_encoder, recorded
from hypothesis import given, settings
from torch import nn
from torch.testing import assert_close

from spacy_lexner.encoders.flat.encoder import FeedForward, FlatEncoder, FlatLayer
from spacy_lexner.encoders.flat.options import SubLayers

FUSIONS = [
    ("enc_ff_shared_l1", {}),
    ("enc_ff_shared_l2", {}),
    ("enc_ff_linear_shared_l1", {}),
    ("enc_ff_linear_shared_l2", {}),
    ("enc_ff_two_shared_l1", {}),
    ("enc_ff_two_shared_l2", {}),
    ("enc_ff_two_unshared_l1", {"learned": True, "share_tables": False, "max_distance": 64}),
    ("enc_attn_shared_l1", {}),
    ("enc_attn_shared_l2", {}),
    ("enc_gate_shared_l1", {}),
]
VARIANTS = [
    ("enc_var_pre_n_post_a", {"norm": "pre"}),
    ("enc_var_pre_empty_post_dan", {"dropout": 0.3}),
    ("enc_var_pre_empty_post_n", {"residual": "none"}),
    (
        "enc_var_noproj_qvr",
        {"project_queries": False, "project_values": False, "project_positions": False},
    ),
    ("enc_var_fusion_unshared", {"share_fusion": False}),
]


def encode(encoder: FlatEncoder, tensors: dict) -> tuple:
    length = tensors["in.emb"].shape[1]
    mask = torch.arange(length) < (tensors["in.seq_len"] + tensors["in.lex_num"]).unsqueeze(1)
    with torch.no_grad():
        return encoder(tensors["in.emb"], tensors["in.pos_s"], tensors["in.pos_e"] + 1, mask), mask


@pytest.mark.parametrize("output", [f"scaled{s}_kproj{k}_attnff{f}" for s in "01" for k in "01" for f in "01"])
@pytest.mark.parametrize("name,options", FUSIONS, ids=[name for name, _ in FUSIONS])
def test_fusions_as_the_original(name, options, output):
    meta, tensors = recorded(name)
    scaled, keys, projected = ("1" in part for part in output.split("_"))
    encoder = original_encoder(meta, tensors, scaled=scaled, project_keys=keys, project_output=projected, **options)
    encoded, mask = encode(encoder, tensors)
    assert_close(encoded[mask], tensors["out." + output][mask], atol=1e-5, rtol=0)


@pytest.mark.parametrize("name,options", VARIANTS, ids=[name for name, _ in VARIANTS])
def test_variants_as_the_original(name, options):
    meta, tensors = recorded(name)
    encoded, mask = encode(original_encoder(meta, tensors, **options), tensors)
    assert_close(encoded[mask], tensors["out"][mask], atol=1e-5, rtol=0)


def test_scalar_positions_as_the_original():
    meta, tensors = recorded("enc_v3_scaled0")
    options = {"kind": "scalar", "max_distance": meta["max_seq_len"], "inner_width": meta["ff"]}
    encoder = make_encoder(meta["hidden"], meta["heads"], meta["layers"], **options)
    weights = {name[len("sd.") :]: tensor for name, tensor in tensors.items() if name.startswith("sd.")}
    encoder.bias.tables[0].data.copy_(weights["pe.weight"])
    encoder.bias.linear.weight.data.copy_(weights["four_pos_fusion_embedding.pos_fusion_forward.0.weight"])
    encoder.bias.linear.bias.data.copy_(weights["four_pos_fusion_embedding.pos_fusion_forward.0.bias"])
    load_original(encoder, weights, besides="bias.")
    encoded, mask = encode(encoder.eval(), tensors)
    assert_close(encoded[mask], tensors["out"][mask], atol=1e-5, rtol=0)


def test_trainable_tables_start_as_sinusoids():
    # What the original calls V2 equals V0 with `ff` bit for bit (golden/flat/v2_vs_v0.json).
    meta, tensors = recorded("enc_ff_shared_l1")
    encoder = original_encoder(meta, tensors, learned=True, max_distance=meta["max_seq_len"])
    encoded, mask = encode(encoder, tensors)
    assert encoder.layers[0].attention.fusion.encoding.tables[0].requires_grad
    assert_close(encoded[mask], tensors["out.scaled0_kproj0_attnff0"][mask], atol=1e-5, rtol=0)


@pytest.mark.parametrize("positions", ["relative", "scalar", "none"])
@given(lattices())
@settings(deadline=None, max_examples=15)
def test_any_lattice_gives_finite_vectors(positions, batch):
    encoder = make_encoder(8, 2, 2, kind=positions, norm="pre", residual="input", scaled=True)
    starts, ends, mask = batch
    encoded = encoder(torch.randn(*starts.shape, 8), starts, ends, mask)
    encoded.sum().backward()
    assert torch.isfinite(encoded).all()
    assert all(torch.isfinite(p.grad).all() for p in encoder.parameters() if p.grad is not None)


@pytest.mark.parametrize("positions", ["relative", "scalar", "none"])
def test_padding_and_company_change_nothing(positions):
    torch.manual_seed(0)
    encoder = make_encoder(8, 2, 2, kind=positions).eval()
    starts = torch.tensor([[0, 1, 2, 0, 0], [0, 1, 2, 3, 1]])
    ends = torch.tensor([[1, 2, 3, 2, 0], [1, 2, 3, 4, 4]])
    mask = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]).bool()
    tokens = torch.randn(2, 5, 8)
    together = encoder(tokens, starts, ends, mask)
    alone = encoder(tokens[:1, :4], starts[:1, :4], ends[:1, :4], mask[:1, :4])
    assert_close(together[:1, :4], alone)


def test_layers_share_the_fusion_or_not():
    shared, own = (make_encoder(8, 2, 3, share_fusion=share) for share in (True, False))
    assert len({id(layer.attention.fusion) for layer in shared.layers}) == 1
    assert len({id(layer.attention.fusion) for layer in own.layers}) == 3


def test_at_least_one_layer():
    with pytest.raises(ValueError, match="at least 1 layer"):
        FlatEncoder(8, 2, layers=0)


class Double(nn.Module):
    """Stands for attention."""

    def forward(self, tokens, *lattice):
        return 2.0 * tokens


def layer(**options) -> FlatLayer:
    torch.manual_seed(0)
    made = FlatLayer(4, Double(), SubLayers(inner_width=6, **options))
    for module in made.modules():
        if isinstance(module, nn.LayerNorm):
            nn.init.normal_(module.weight)
    return made.eval()


def run(made: FlatLayer) -> tuple:
    x = torch.randn(2, 30, 4)
    return x, made(x, torch.ones(2, 30).bool(), None)


def test_residual_connections_add_the_input():
    made = layer(residual="input", shared_norm=False)
    x, encoded = run(made)
    middle = made.attention_norm(x + 2.0 * x)
    assert_close(encoded, made.feed_forward_norm(middle + made.feed_forward(middle)))


def test_before_instead_of_after():
    made = layer(norm="pre", residual="input", shared_norm=False)
    x, encoded = run(made)
    middle = x + 2.0 * made.attention_norm(x)
    assert_close(encoded, middle + made.feed_forward(made.feed_forward_norm(middle)))


def test_the_original_adds_the_output_to_itself():
    made = layer()
    x, encoded = run(made)
    norm = made.attention_norm
    middle = norm(4.0 * x)
    assert_close(encoded, norm(2.0 * made.feed_forward(middle)))


def test_each_sub_layer_has_a_norm_unless_shared():
    assert sum(isinstance(module, nn.LayerNorm) for module in layer(shared_norm=False).modules()) == 2
    assert sum(isinstance(module, nn.LayerNorm) for module in layer().modules()) == 1


def test_the_output_of_a_sub_layer_is_dropped_before_anything_is_added():
    made = layer(dropout=0.999, residual="input").train()
    x, encoded = run(made)
    norm = made.attention_norm
    kept = torch.isclose(encoded, norm(norm(x)), atol=1e-4).all(-1)
    assert kept.float().mean() > 0.9


def test_dropout_stands_before_the_activation():
    torch.manual_seed(0)
    part = FeedForward(4, SubLayers(inner_width=2000, inner_dropout=0.5))
    nn.init.zeros_(part.inner.weight)
    nn.init.ones_(part.inner.bias)
    seen = []
    part.activation.register_forward_hook(lambda module, inputs, output: seen.append(inputs[0]))
    part(torch.randn(1, 4))
    assert set(seen[0].unique().tolist()) == {0.0, 2.0}


@pytest.mark.parametrize("name,function", [("relu", nn.ReLU), ("leaky", nn.LeakyReLU), ("gelu", nn.GELU)])
def test_activations(name, function):
    assert isinstance(FeedForward(4, SubLayers(activation=name)).activation, function)
