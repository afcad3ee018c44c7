import pytest
import torch
from flat_reference import original_encoder, recorded
from torch.testing import assert_close

from spacy_lexner.encoders.flat import model as flat
from spacy_lexner.encoders.flat.embedding import AbsolutePositions, LatticeEmbedding
from spacy_lexner.encoders.flat.encoder import FlatEncoder
from spacy_lexner.encoders.flat.model import Flat, FlatBatch, build_flat
from spacy_lexner.encoders.flat.options import Embedding, Positions
from spacy_lexner.encoders.shared.words import Words
from spacy_lexner.tagging.crf import Trellis, log_partition, viterbi


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
    return model, output, transitions, tensors


def part(weights: dict, prefix: str) -> dict:
    return {name[len(prefix) :]: tensor for name, tensor in weights.items() if name.startswith(prefix)}


def emit(model: Flat, output: torch.nn.Linear, tensors: dict) -> torch.Tensor:
    """Emissions of the recorded batch: its words stand behind the characters of their own text, not of the longest."""
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
    model, output, transitions, tensors = whole
    lengths = tensors["in.seq_len"]
    mask = torch.arange(int(lengths.max())) < lengths.unsqueeze(1)
    emissions = emit(model, output, tensors)
    assert_close(emissions[mask], tensors["out.emissions"][mask], atol=1e-5, rtol=0)

    n_labels = emissions.shape[-1]
    allowed = torch.ones(int(lengths.sum()), n_labels, dtype=torch.bool)
    gold = torch.nn.functional.one_hot(tensors["in.target"][mask], n_labels).bool()
    legal = torch.ones(n_labels + 1, n_labels + 1, dtype=torch.bool)
    counts = lengths.tolist()
    trellis = Trellis(emissions[mask], transitions, allowed, legal, counts)
    losses = log_partition(trellis) - log_partition(trellis._replace(allowed=gold))
    assert_close(losses, tensors["out.loss_per_seq"], atol=1e-4, rtol=0)
    paths = viterbi(trellis)
    assert torch.equal(paths.tags, tensors["out.viterbi"][mask])
    assert_close(paths.scores, tensors["out.viterbi_score"], atol=1e-4, rtol=0)

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
    assert ours.keys() == recorded_gradients.keys()
    for name, gradient in recorded_gradients.items():
        assert (ours[name] - gradient).norm() <= 1e-4 * gradient.norm(), name


def test_a_text_without_words_needs_no_word_input():
    torch.manual_seed(0)
    embedding = LatticeEmbedding(8, n_characters=10, character_width=6, word_width=4)
    model = Flat(
        embedding, FlatEncoder(8, 2), absolute=AbsolutePositions(8, Positions(absolute="nonlinear_add"))
    ).eval()
    characters = torch.tensor([[2, 3, 4], [5, 0, 0]])
    nothing = Words(torch.zeros(0, 4), torch.zeros(0).bool(), torch.zeros(0).long(), torch.zeros(0).long())
    none = torch.zeros(2, 0, dtype=torch.long)
    padding = torch.zeros(2, 3, dtype=torch.long)
    kept = torch.tensor([0, 1, 3])
    expected = model([FlatBatch(characters, kept)])
    assert expected.shape == (3, 8)
    assert_close(model([FlatBatch(characters, kept, None, nothing, none, none, none)]), expected)
    assert_close(model([FlatBatch(characters, kept, None, nothing, padding, padding, padding)]), expected)


def test_many_batches_are_computed_again_in_the_backward_pass(monkeypatch):
    torch.manual_seed(0)
    model = Flat(LatticeEmbedding(8, n_characters=10, character_width=6, contextual_width=4), FlatEncoder(8, 2))
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
        for left, right in zip(results[0], again):
            assert_close(left, right)


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
