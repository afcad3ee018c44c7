import pytest
import torch
from flat_reference import lattices, load_original, original_encoder, recorded
from hypothesis import given, settings
from torch.testing import assert_close

from spacy_lexner.encoders.flat.encoder import FlatEncoder

FUSIONS = [
    ("enc_ff_shared_l1", {}),
    ("enc_ff_shared_l2", {}),
    ("enc_ff_linear_shared_l1", {}),
    ("enc_ff_linear_shared_l2", {}),
    ("enc_ff_two_shared_l1", {}),
    ("enc_ff_two_shared_l2", {}),
    ("enc_ff_two_unshared_l1", {"learn_positions": True, "share_tables": False, "max_distance": 64}),
    ("enc_attn_shared_l1", {}),
    ("enc_attn_shared_l2", {}),
    ("enc_gate_shared_l1", {}),
]
VARIANTS = [
    ("enc_var_pre_n_post_a", {"pre": "n", "post": "a"}),
    ("enc_var_pre_empty_post_dan", {"post": "dan"}),
    ("enc_var_pre_empty_post_n", {"post": "n"}),
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
        return encoder(tensors["in.emb"], tensors["in.pos_s"], tensors["in.pos_e"], mask), mask


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
    encoder = FlatEncoder(
        meta["hidden"],
        meta["heads"],
        layers=meta["layers"],
        inner_width=meta["ff"],
        positions="scalar",
        max_distance=meta["max_seq_len"],
        residual=False,
        shared_norm=True,
    )
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
    encoder = original_encoder(meta, tensors, learn_positions=True, max_distance=meta["max_seq_len"])
    encoded, mask = encode(encoder, tensors)
    assert encoder.layers[0].attention.fusion.encoding.tables[0].requires_grad
    assert_close(encoded[mask], tensors["out.scaled0_kproj0_attnff0"][mask], atol=1e-5, rtol=0)


@pytest.mark.parametrize("positions", ["relative", "scalar", "none"])
@given(lattices())
@settings(deadline=None, max_examples=15)
def test_any_lattice_gives_finite_vectors(positions, batch):
    encoder = FlatEncoder(8, 2, layers=2, positions=positions, pre="n", post="a", scaled=True)
    starts, ends, mask = batch
    encoded = encoder(torch.randn(*starts.shape, 8), starts, ends, mask)
    encoded.sum().backward()
    assert torch.isfinite(encoded).all()
    assert all(torch.isfinite(p.grad).all() for p in encoder.parameters() if p.grad is not None)


@pytest.mark.parametrize("positions", ["relative", "scalar", "none"])
def test_padding_and_company_change_nothing(positions):
    torch.manual_seed(0)
    encoder = FlatEncoder(8, 2, layers=2, positions=positions).eval()
    starts = torch.tensor([[0, 1, 2, 0, 0], [0, 1, 2, 3, 1]])
    ends = torch.tensor([[0, 1, 2, 1, 0], [0, 1, 2, 3, 3]])
    mask = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]).bool()
    tokens = torch.randn(2, 5, 8)
    together = encoder(tokens, starts, ends, mask)
    alone = encoder(tokens[:1, :4], starts[:1, :4], ends[:1, :4], mask[:1, :4])
    assert_close(together[:1, :4], alone)


def test_layers_share_the_fusion_or_not():
    shared, own = (FlatEncoder(8, 2, layers=3, share_fusion=share) for share in (True, False))
    assert len({id(layer.attention.fusion) for layer in shared.layers}) == 1
    assert len({id(layer.attention.fusion) for layer in own.layers}) == 3


def test_misspelt_options_name_the_known_ones():
    with pytest.raises(ValueError, match=r"'fff'.*ff, ff_linear, ff_two, attn, gate"):
        FlatEncoder(8, 2, fusion="fff")
    with pytest.raises(ValueError, match=r"'relativ'.*relative, scalar, none"):
        FlatEncoder(8, 2, positions="relativ")
    with pytest.raises(ValueError, match="at least 1 layer"):
        FlatEncoder(8, 2, layers=0)
