"""Parity with the original: every tensor of the golden files."""

import json

import pytest
import torch
from safetensors.torch import load_file
from tolerance import assert_all_close, assert_close

from spacy_lexner.checkpoints.elmo import import_elmo
from spacy_lexner.encoders.elmo.bilm import BiLM
from spacy_lexner.encoders.elmo.character_ids import ByteCharacters
from spacy_lexner.encoders.elmo.checkpoint import build_cnn, load_weights, read_config
from spacy_lexner.encoders.elmo.model import ELMo, ScalarMix

# The lengths of the sums: filters of up to 3 characters of width 8, two highway layers and a projection of width 32.
CHARACTERS = 3 * 8 + 2 * 32 + 32
# Two LSTM layers with at most nine steps: the gates read input and state of width 16, the projection 24 cells.
LSTM = CHARACTERS + 2 * 9 * (16 + 16 + 24)
SCALARS, GAMMA = [0.3, -0.5, 1.2], 0.7


@pytest.fixture(scope="module")
def golden(fixtures_dir):
    return load_file(fixtures_dir / "elmo" / "tensors.safetensors")


@pytest.fixture(scope="module")
def golden64(fixtures_dir):
    return load_file(fixtures_dir / "elmo" / "tensors_float64.safetensors")


@pytest.fixture(scope="module")
def checkpoint(fixtures_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("elmo") / "checkpoint"
    import_elmo(fixtures_dir / "elmo" / "options.json", fixtures_dir / "elmo" / "weights.hdf5", folder)
    return folder


def make_elmo(checkpoint, *, norm=None, scalars=SCALARS, gamma=GAMMA, freeze=False, clip=True, **options):
    config = read_config(checkpoint)
    sizes = config["bilm"] if clip else {**config["bilm"], "cell_clip": None, "projection_clip": None}
    elmo = ELMo(
        build_cnn(config), BiLM(**sizes, **options), [ScalarMix(3, norm, scalars)], [0, 1, 2], freeze=freeze
    ).eval()
    load_weights(checkpoint, config, elmo.characters, elmo.bilm)
    elmo.mixes[0].gamma.data.fill_(gamma)
    return elmo


def flat(values, mask):
    """Golden tensors are padded, ours are not: the rows that are words."""
    return values[mask]


def batch(golden, name="character_ids_with_bos_eos"):
    ids = golden[name]
    mask = ids[..., 0] != 0
    words, rows = torch.unique(ids[mask], dim=0, return_inverse=True)
    return words, rows, mask.sum(dim=1), mask


def test_character_ids(golden, fixtures_dir):
    ids = ByteCharacters()
    sentences = json.loads((fixtures_dir / "elmo" / "sentences.json").read_text("utf8"))["sentences"]
    for sentence, expected, bounded in zip(sentences, golden["character_ids"], golden["character_ids_with_bos_eos"]):
        encoded = torch.from_numpy(ids.encode(sentence))
        begin, end = torch.from_numpy(ids.boundary_words())
        assert torch.equal(encoded, expected[: len(sentence)])
        assert torch.equal(torch.cat([begin[None], encoded, end[None]]), bounded[: len(sentence) + 2])


def test_character_cnn(checkpoint, golden):
    elmo = make_elmo(checkpoint)
    words, rows, _, mask = batch(golden)
    pooled = elmo.characters.pool(words)
    highway = elmo.characters.highway(pooled)
    for ours, name in [
        (pooled, "cnn_maxpool_relu"),
        (highway, "highway_out"),
        (elmo.characters(words), "token_embedding_with_bos_eos"),
        (elmo.embed(words), "token_embedding_with_bos_eos"),
    ]:
        assert_close(ours[rows], flat(golden[name], mask), CHARACTERS)


@pytest.mark.parametrize("clip", [True, False])
@pytest.mark.parametrize("block_rows", [1024, 4])
def test_layers(checkpoint, golden, clip, block_rows):
    elmo = make_elmo(checkpoint, clip=clip, block_rows=block_rows)
    words, rows, lengths, mask = batch(golden)
    layers = elmo.bilm(elmo.embed(words), lengths, rows)
    for number, layer in enumerate(layers):
        if clip:
            inner = flat(golden[f"layer{number}_with_bos_eos"], mask)
            assert_close(layer, inner, LSTM)
            words_only = torch.cat([part[1:-1] for part in layer.split(lengths.tolist())])
            expected = flat(golden[f"layer{number}"], golden["mask"])
            assert_close(words_only, expected, LSTM)
        elif number > 0:
            expected = flat(golden[f"noclip_layer{number}_with_bos_eos"], mask)
            assert_close(layer, expected, LSTM)
    top = elmo(words, rows, lengths, top_only=True)
    assert_close(top, layers[-1], LSTM)


def test_state_is_carried_from_call_to_call(checkpoint, golden):
    elmo = make_elmo(checkpoint, stateful=True)
    words, rows, lengths, mask = batch(golden)
    embedded = elmo.embed(words)
    for calls, name in enumerate(("layer{}_with_bos_eos", "stateful_second_pass_layer{}_with_bos_eos"), 1):
        layers = elmo.bilm(embedded, lengths, rows)
        for number in (1, 2):
            expected = flat(golden[name.format(number)], mask)
            assert_close(layers[number], expected, calls * LSTM)
        if calls == 1:
            for number, state in enumerate(elmo.bilm.state):
                for part, final in zip(state, ("final_hidden_state_2xL", "final_memory_state_2xL")):
                    ours = torch.cat(list(part), dim=1)
                    assert_close(ours, golden[final][number], LSTM)
    elmo.bilm.state = None
    again = elmo.bilm(embedded, lengths, rows)
    assert_close(again[2], flat(golden["layer2_with_bos_eos"], mask), LSTM)


@pytest.mark.parametrize(
    "name, options",
    [
        ("mix", {}),
        ("mix_layer_norm", {"norm": "batch"}),
        ("mix_default", {"scalars": None, "gamma": 1.0}),
        ("mix_only_layer1", {"scalars": [-9e10, 1.0, -9e10], "gamma": 1.0}),
        ("mix_keep_boundaries", {}),
        ("mix_layer_norm_keep_boundaries", {"norm": "batch"}),
    ],
)
def test_mixes(checkpoint, golden, name, options):
    words, rows, lengths, _ = batch(golden)
    kept = "keep_boundaries" in name
    for block_rows in (1024, 4):
        mixed = make_elmo(checkpoint, block_rows=block_rows, **options)(words, rows, lengths)
        if not kept:
            mixed = torch.cat([part[1:-1] for part in mixed.split(lengths.tolist())])
        expected = flat(golden[name], golden["mask_keep_boundaries" if kept else "mask"])
        assert_close(mixed, expected, LSTM)


def test_layer_norm_depends_on_the_batch(checkpoint, golden):
    words, rows, lengths, _ = batch(golden)
    start, length = int(lengths[0]), int(lengths[1])
    alone = make_elmo(checkpoint, norm="batch")(words, rows[start : start + length], lengths[1:2])
    assert_close(alone[1:-1], golden["mix_layer_norm_sentence1_alone"][0], LSTM)


def test_sentence_without_words(checkpoint, golden):
    """The original runs begin and end of an empty sentence; the words of its neighbours do not change."""
    mask = golden["empty_mask"]
    begin, end = torch.from_numpy(ByteCharacters().boundary_words())
    sentences = [torch.cat([begin[None], ids[ids[:, 0] != 0], end[None]]) for ids in golden["empty_character_ids"]]
    lengths = torch.tensor([len(ids) for ids in sentences])
    mixed = make_elmo(checkpoint)(torch.cat(sentences), torch.arange(int(lengths.sum())), lengths)
    words = torch.cat([part[1:-1] for part in mixed.split(lengths.tolist())])
    assert_close(words, flat(golden["empty_mix"], mask), LSTM)


def test_double_precision(checkpoint, golden, golden64):
    words, rows, lengths, mask = batch(golden)
    elmo = make_elmo(checkpoint).double()
    elmo.mixes[0].gamma.data.fill_(GAMMA)
    embedded = elmo.embed(words)
    assert_close(embedded[rows], flat(golden64["token_embedding_with_bos_eos"], mask), CHARACTERS, "float64")
    for number, layer in enumerate(elmo.bilm(embedded, lengths, rows)):
        expected = flat(golden64[f"layer{number}_with_bos_eos"], mask)
        assert_close(layer, expected, LSTM, "float64")
    for name, norm in (("mix", None), ("mix_layer_norm", "batch")):
        elmo.mixes[0].norm = norm
        mixed = torch.cat([part[1:-1] for part in elmo(words, rows, lengths).split(lengths.tolist())])
        assert_close(mixed, flat(golden64[name], golden["mask"]), LSTM, "float64")


@pytest.mark.parametrize("block_rows", [1024, 4])
def test_gradients(checkpoint, golden, fixtures_dir, block_rows):
    expected = load_file(fixtures_dir / "elmo" / "grads.safetensors")
    elmo = make_elmo(checkpoint, block_rows=block_rows)
    elmo.mixes[0].requires_grad_(True)
    words, rows, lengths, _ = batch(golden)
    mixed = torch.cat([part[1:-1] for part in elmo(words, rows, lengths).split(lengths.tolist())])
    (mixed * flat(golden["grad_G"], golden["mask"])).sum().backward()
    theirs = rename(expected)
    ours = {name: parameter.grad for name, parameter in elmo.named_parameters()}
    assert ours.keys() == theirs.keys()
    assert_all_close(ours, theirs, 2 * LSTM)  # forward and backward


def test_weights_of_the_original_implementation(checkpoint, fixtures_dir):
    """The import gives the same as the original's loader for the same file."""
    elmo = make_elmo(checkpoint)
    theirs = rename(load_file(fixtures_dir / "elmo" / "state_dict.safetensors"))
    for name, parameter in elmo.named_parameters():
        assert torch.equal(parameter.data, theirs[name]), name


def rename(state):
    """The original's state dict with our names."""
    embedder, lstm = "_elmo_lstm._token_embedder.", "_elmo_lstm._elmo_lstm."
    renamed = {
        "mixes.0.scalars": torch.cat([state[f"scalar_mix_0.scalar_parameters.{i}"] for i in range(3)]),
        "mixes.0.gamma": state["scalar_mix_0.gamma"],
        "characters.embedding.weight": state[f"{embedder}_char_embedding_weights"],
    }
    for part in ("weight", "bias"):
        renamed[f"characters.projection.{part}"] = state[f"{embedder}_projection.{part}"]
        for i in range(3):
            renamed[f"characters.convolutions.{i}.{part}"] = state[f"{embedder}char_conv_{i}.{part}"]
        for i in range(2):
            renamed[f"characters.highway.layers.{i}.{part}"] = state[f"{embedder}_highways._layers.{i}.{part}"]
    for ours, theirs in [
        ("input_weight", "input_linearity.weight"),
        ("recurrent_weight", "state_linearity.weight"),
        ("bias", "state_linearity.bias"),
        ("projection", "state_projection.weight"),
    ]:
        for layer in range(2):
            renamed[f"bilm.layers.{layer}.{ours}"] = torch.stack(
                [state[f"{lstm}{direction}_layer_{layer}.{theirs}"] for direction in ("forward", "backward")]
            )
    return renamed


def test_official_size():
    config = {
        "characters": {"unit": "byte", "max_characters": 50},
        "cnn": {
            "embedding_dim": 16,
            "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
            "n_highway": 2,
            "activation": "relu",
        },
        "bilm": {"projection_dim": 512},
    }
    with torch.device("meta"):
        bilm = BiLM(512, 4096, 2, cell_clip=3.0, projection_clip=3.0)
        elmo = ELMo(build_cnn(config), bilm, [ScalarMix(3)], [0, 1, 2])
    mixes = sum(parameter.numel() for parameter in elmo.mixes.parameters())
    assert sum(parameter.numel() for parameter in elmo.parameters()) - mixes == 93_600_864
    assert mixes == 4 and elmo.width == 1024


def test_frozen_trains_the_mix_alone(checkpoint, golden):
    elmo = make_elmo(checkpoint, scalars=None, freeze=True, dropout=0.5).train()
    words, rows, lengths, _ = batch(golden)
    expected = make_elmo(checkpoint, scalars=None)(words, rows, lengths)
    mixed = elmo(words, rows, lengths)
    assert_close(mixed, expected, LSTM)  # no dropout inside a frozen language model
    mixed.sum().backward()
    assert {name for name, parameter in elmo.named_parameters() if parameter.grad is not None} == {
        "mixes.0.scalars",
        "mixes.0.gamma",
    }
    elmo(words, rows, lengths, top_only=True).sum().backward()
    assert all(parameter.grad is not None for parameter in elmo.bilm.parameters())


def test_mixes_stand_side_by_side(checkpoint, golden):
    config = read_config(checkpoint)
    mixes = [ScalarMix(2, weights=[5.0, -5.0]), ScalarMix(2, "token")]
    elmo = ELMo(build_cnn(config), BiLM(**config["bilm"]), mixes, [1, 2]).eval()
    load_weights(checkpoint, config, elmo.characters, elmo.bilm)
    words, rows, lengths, _ = batch(golden)
    layers = elmo.bilm(elmo.embed(words), lengths, rows)
    first, second = elmo(words, rows, lengths).split(32, dim=1)
    assert_close(first, mixes[0](layers[1:]), LSTM)
    assert second.shape == first.shape and elmo.width == 64
