import pytest
import torch
from flat_reference import lattices, load_original, make_encoder, n_terms, original_encoder, recorded
from hypothesis import given, settings
from tolerance import assert_all_close, assert_close, tolerance
from torch import nn

from spacy_lexner.encoders.flat import model as flat
from spacy_lexner.encoders.flat.embedding import AbsolutePositions, LatticeEmbedding
from spacy_lexner.encoders.flat.model import FeedForward, Flat, FlatBatch, FlatLayer, LatticeEncoder, build_flat
from spacy_lexner.encoders.flat.options import Embedding, Positions, SubLayers
from spacy_lexner.encoders.shared.words import Words
from spacy_lexner.tagging.crf import Trellis, log_partition, viterbi

N_TERMS = 2 * 32  # of the small models below: layers, and their longest sum (four encodings of 8)


@pytest.fixture(scope="module")
def whole() -> tuple:
    """The whole model of the original, with an output layer and a CRF, and its recorded run."""
    meta, tensors = recorded("full_fftwo_l1")
    weights = {name[len("sd.") :]: tensor for name, tensor in tensors.items() if name.startswith("sd.")}
    lattice, bigrams = weights["lattice_embed.embedding.weight"], weights["bigram_embed.embedding.weight"]
    embedding = LatticeEmbedding(
        meta["hidden"],
        n_characters=len(lattice) + 1,
        character_width=lattice.shape[1],
        n_bigrams=len(bigrams) + 1,
        bigram_width=bigrams.shape[1],
        word_width=lattice.shape[1],
        n_tuned_words=len(lattice),
        options=Embedding(normalize=False),
    )
    encoder = original_encoder(meta, tensors, prefix="sd.encoder.")
    model = Flat(embedding, encoder).eval()
    embedding.characters.weight.data[1:] = lattice
    embedding.bigrams.weight.data[1:] = bigrams
    embedding.words.tuned.data[:] = lattice
    embedding.project_characters.load_state_dict(part(weights, "char_proj."))
    embedding.project_words.load_state_dict(part(weights, "lex_proj."))
    output = torch.nn.Linear(meta["hidden"], meta["labels"])
    output.load_state_dict(part(weights, "output."))
    transitions = torch.zeros(meta["labels"] + 1, meta["labels"] + 1)
    transitions[:-1, :-1] = weights["crf.trans_m"]
    transitions.requires_grad_()
    return model, output, transitions, tensors, n_terms(meta)


def part(weights: dict, prefix: str) -> dict:
    return {name[len(prefix) :]: tensor for name, tensor in weights.items() if name.startswith(prefix)}


def emit(model: Flat, output: torch.nn.Linear, tensors: dict) -> torch.Tensor:
    """Emissions of the recorded batch: its words follow the characters of their own text, not of the longest."""
    n_characters, n_words = tensors["in.seq_len"], tensors["in.lex_num"]
    size = int(n_words.max())
    characters = torch.zeros_like(tensors["in.bigrams"])
    bigrams = torch.zeros_like(characters)
    spans = torch.zeros(3, len(characters), size, dtype=torch.long)
    for b, (n, m) in enumerate(zip(n_characters, n_words)):
        characters[b, :n] = tensors["in.lattice"][b, :n] + 1
        bigrams[b, :n] = tensors["in.bigrams"][b, :n] + 1
        for row, name in zip(spans, ("in.lattice", "in.pos_s", "in.pos_e")):
            row[b, :m] = tensors[name][b, n : n + m]
    mask = torch.arange(size) < n_words.unsqueeze(1)
    distinct, inverse = torch.unique(spans[0][mask], return_inverse=True)
    ids = torch.zeros_like(spans[0])
    ids[mask] = inverse + 1
    nowhere = torch.zeros(len(distinct), model.embedding.words.width)
    words = Words(nowhere, torch.zeros(len(distinct), dtype=torch.bool), torch.full((len(distinct),), 2), distinct)
    batch = FlatBatch(characters, torch.zeros(0).long(), bigrams, words, ids, spans[1], spans[2] + 1)
    return output(model.encode(batch))


def test_whole_model_as_the_original(whole):
    model, output, transitions, tensors, n_terms = whole
    lengths = tensors["in.seq_len"]
    mask = torch.arange(int(lengths.max())) < lengths.unsqueeze(1)
    emissions = emit(model, output, tensors)
    assert_close(emissions[mask], tensors["out.emissions"][mask], n_terms)

    n_labels = emissions.shape[-1]
    allowed = torch.ones(int(lengths.sum()), n_labels, dtype=torch.bool)
    gold = torch.nn.functional.one_hot(tensors["in.target"][mask], n_labels).bool()
    legal = torch.ones(n_labels + 1, n_labels + 1, dtype=torch.bool)
    counts = lengths.tolist()
    trellis = Trellis(emissions[mask], transitions, allowed, legal, counts)
    losses = log_partition(trellis) - log_partition(trellis._replace(allowed=gold))
    assert_close(losses, tensors["out.loss_per_seq"], n_terms)
    paths = viterbi(trellis)
    assert torch.equal(paths.tags, tensors["out.viterbi"][mask])
    assert_close(paths.scores, tensors["out.viterbi_score"], n_terms)

    losses.mean().backward()
    attention, layer = model.encoder.layers[0].attention, model.encoder.layers[0]
    ours = {
        "char_proj.weight": model.embedding.project_characters.weight.grad,
        "lex_proj.weight": model.embedding.project_words.weight.grad,
        "lattice_embed.embedding.weight": model.embedding.characters.weight.grad[1:] + model.embedding.words.tuned.grad,
        "output.weight": output.weight.grad,
        "crf.trans_m": transitions.grad[:-1, :-1],
        "encoder.four_pos_fusion_embedding.pos_fusion_forward.0.weight": attention.fusion.linear.weight.grad,
        "encoder.layer_0.attn.u": attention.content_bias.grad,
        "encoder.layer_0.attn.v": attention.position_bias.grad,
        "encoder.layer_0.attn.w_q.weight": attention.query.weight.grad,
        "encoder.layer_0.attn.w_r.weight": attention.position.weight.grad,
        "encoder.layer_0.ff.w0.weight": layer.feed_forward.inner.weight.grad,
        "encoder.layer_0.layer_postprocess.layer_norm.weight": layer.attention_norm.weight.grad,
        "encoder.layer_0.layer_postprocess.layer_norm.bias": layer.attention_norm.bias.grad,
    }
    recorded_gradients = {name[len("grad.") :]: t for name, t in tensors.items() if name.startswith("grad.")}
    assert_all_close(ours, recorded_gradients, 2 * n_terms)  # forward and backward


def test_a_text_without_words_needs_no_word_input():
    torch.manual_seed(0)
    embedding = LatticeEmbedding(8, n_characters=10, character_width=6, word_width=4)
    model = Flat(
        embedding, LatticeEncoder(8, 2), absolute=AbsolutePositions(8, Positions(absolute="nonlinear_add"))
    ).eval()
    characters = torch.tensor([[2, 3, 4], [5, 0, 0]])
    nothing = Words(torch.zeros(0, 4), torch.zeros(0).bool(), torch.zeros(0).long(), torch.zeros(0).long())
    none = torch.zeros(2, 0, dtype=torch.long)
    padding = torch.zeros(2, 3, dtype=torch.long)
    kept = torch.tensor([0, 1, 3])
    expected = model([FlatBatch(characters, kept)])
    assert expected.shape == (3, 8)
    assert_close(model([FlatBatch(characters, kept, None, nothing, none, none, none)]), expected, N_TERMS)
    assert_close(model([FlatBatch(characters, kept, None, nothing, padding, padding, padding)]), expected, N_TERMS)


def test_many_batches_are_computed_again_in_the_backward_pass(monkeypatch):
    torch.manual_seed(0)
    model = Flat(LatticeEmbedding(8, n_characters=10, character_width=6, contextual_width=4), LatticeEncoder(8, 2))
    characters = torch.tensor([[2, 3, 4], [5, 0, 0]])
    batches = [FlatBatch(characters, torch.tensor([0, 1, 2, 3]), tokens=characters + shift) for shift in range(3)]
    contextual = torch.randn(9, 4, requires_grad=True)
    results = []
    for kept_pairs in (10**6, 20, 0):
        monkeypatch.setattr(flat, "KEPT_PAIRS", kept_pairs)
        torch.manual_seed(1)
        encoded = model(batches, contextual)
        gradients = torch.autograd.grad(
            encoded.square().sum(), [contextual, *model.parameters()], materialize_grads=True
        )
        results.append((encoded.detach(), *gradients))
    for again in results[1:]:
        assert_all_close(again, results[0], 2 * N_TERMS)


def test_built_from_plain_settings():
    settings = {
        "width": 8,
        "heads": 2,
        "layers": 2,
        "tables": {"n_characters": 5, "n_bigrams": 4, "n_fixed_bigrams": 2, "contextual_width": 3},
        "embedding": {},
        "positions": {"absolute": "add"},
        "attention": {},
        "sublayers": {"output_dropout": 0.1},
    }
    model = build_flat(settings)
    assert (len(model.encoder.layers), model.absolute.fusion, model.output_dropout.p) == (2, "add", 0.1)
    assert model.embedding.bigrams.fixed.shape == (2, 50)
    assert build_flat({**settings, "positions": {}}).absolute is None


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


def encode(encoder: LatticeEncoder, tensors: dict) -> tuple:
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
    assert_close(encoded[mask], tensors["out." + output][mask], n_terms(meta))


@pytest.mark.parametrize("name,options", VARIANTS, ids=[name for name, _ in VARIANTS])
def test_variants_as_the_original(name, options):
    meta, tensors = recorded(name)
    encoded, mask = encode(original_encoder(meta, tensors, **options), tensors)
    assert_close(encoded[mask], tensors["out"][mask], n_terms(meta))


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
    assert_close(encoded[mask], tensors["out"][mask], n_terms(meta))


def test_trainable_tables_start_as_sinusoids():
    # What the original calls V2 equals V0 with `ff` bit for bit (golden/flat/v2_vs_v0.json).
    meta, tensors = recorded("enc_ff_shared_l1")
    encoder = original_encoder(meta, tensors, learned=True, max_distance=meta["max_seq_len"])
    encoded, mask = encode(encoder, tensors)
    assert encoder.layers[0].attention.fusion.encoding.tables[0].requires_grad
    assert_close(encoded[mask], tensors["out.scaled0_kproj0_attnff0"][mask], n_terms(meta))


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


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("residual", ["input", "output", "none"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("positions", ["relative", "scalar", "none"])
def test_the_last_layer_for_some_tokens(positions, layers, residual, norm):
    torch.manual_seed(0)
    encoder = make_encoder(8, 2, layers, kind=positions, residual=residual, norm=norm).eval()
    starts = torch.tensor([[0, 1, 2, 0, 0], [0, 1, 2, 0, 1]])
    ends = torch.tensor([[1, 2, 3, 2, 0], [1, 2, 3, 2, 3]])
    mask = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]).bool()
    lattice = torch.randn(2, 5, 8), starts, ends, mask
    for n_wanted in (1, 3, 5):
        assert_close(encoder(*lattice, None, n_wanted), encoder(*lattice)[:, :n_wanted], N_TERMS)


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
    assert_close(together[:1, :4], alone, N_TERMS)


def test_layers_share_the_fusion_or_not():
    shared, own = (make_encoder(8, 2, 3, share_fusion=share) for share in (True, False))
    assert len({id(layer.attention.fusion) for layer in shared.layers}) == 1
    assert len({id(layer.attention.fusion) for layer in own.layers}) == 3


def test_at_least_one_layer():
    with pytest.raises(ValueError, match="at least 1 layer"):
        LatticeEncoder(8, 2, layers=0)


class Double(nn.Module):
    """A stand-in for attention."""

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
    assert_close(encoded, made.feed_forward_norm(middle + made.feed_forward(middle)), N_TERMS)


def test_before_instead_of_after():
    made = layer(norm="pre", residual="input", shared_norm=False)
    x, encoded = run(made)
    middle = x + 2.0 * made.attention_norm(x)
    assert_close(encoded, middle + made.feed_forward(made.feed_forward_norm(middle)), N_TERMS)


def test_the_original_adds_the_output_to_itself():
    made = layer()
    x, encoded = run(made)
    norm = made.attention_norm
    middle = norm(4.0 * x)
    assert_close(encoded, norm(2.0 * made.feed_forward(middle)), N_TERMS)


def test_each_sub_layer_has_a_norm_unless_shared():
    assert sum(isinstance(module, nn.LayerNorm) for module in layer(shared_norm=False).modules()) == 2
    assert sum(isinstance(module, nn.LayerNorm) for module in layer().modules()) == 1


def test_the_output_of_a_sub_layer_is_dropped_before_anything_is_added():
    made = layer(dropout=0.999, residual="input").train()
    x, encoded = run(made)
    norm = made.attention_norm
    expected = norm(norm(x))
    kept = torch.isclose(encoded, expected, rtol=0, atol=tolerance(N_TERMS, expected)).all(-1)
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
