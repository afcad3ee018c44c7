"""Checkpoints of thunlp's ERNIE: they reproduce its numbers, and cannot do harm."""

import json
import pickle
from pathlib import Path

import pytest
import spacy
import torch
from safetensors.torch import load_file
from spacy.training import Example
from tolerance import assert_close
from transformers import AutoModel, AutoTokenizer
from typer.testing import CliRunner

from spacy_lexner.checkpoints.ernie import import_ernie, rename_parameters
from spacy_lexner.cli.app import lexner
from spacy_lexner.encoders.ernie.model import ERNIEBatch
from spacy_lexner.lexicon.entry import LexiconEntry

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(chr(ord("一") + i) for i in range(55))]
TYPES = ["sim", "sim", "mix", "norm"]
CONFIG = {
    "vocab_size": 60,
    "hidden_size": 32,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 40,
    "type_vocab_size": 2,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
    "initializer_range": 0.02,
    "layer_types": TYPES,
}


@pytest.fixture
def original(tmp_path, fixtures_dir) -> Path:
    """A folder as thunlp publishes it."""
    folder = tmp_path / "ernie_base"
    folder.mkdir()
    state = load_file(fixtures_dir / "ernie" / "state_dict_A.safetensors")
    old_names = {name.replace("LayerNorm.weight", "LayerNorm.gamma"): tensor for name, tensor in state.items()}
    torch.save({f"module.bert.{name}": tensor for name, tensor in old_names.items()}, folder / "pytorch_model.bin")
    (folder / "ernie_config.json").write_text(json.dumps(CONFIG))
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", "utf8")
    return folder


def make_pipeline(checkpoint, width=100, **settings):
    nlp = spacy.blank("zh")
    entry = LexiconEntry("一丁", torch.ones(width).numpy(), entity_id="Q1")
    nlp.add_pipe("lex_matcher").add_words([entry])
    model = {"@architectures": "spacy-lexner.ERNIE.v1", "checkpoint": str(checkpoint), **settings}
    nlp.add_pipe("tok2vec", config={"model": model})
    nlp.initialize(lambda: [Example(nlp.make_doc("一丁"), nlp.make_doc("一丁"))])
    return nlp


def test_an_imported_checkpoint_gives_the_original_numbers(original, tmp_path, fixtures_dir):
    import_ernie(original, tmp_path / "ernie")
    module = make_pipeline(tmp_path / "ernie").get_pipe("tok2vec").model.shims[0].module.eval()
    golden = load_file(fixtures_dir / "ernie" / "tensors.safetensors")
    entities = golden["entity_idx"] + 1
    vectors = golden["entity_table_with_zero_row0"]
    mask = golden["attention_mask"].bool()
    batch = ERNIEBatch(
        golden["input_ids"],
        mask,
        mask.flatten().nonzero().flatten(),
        entities,
        vectors,
        torch.full((len(vectors),), -1),
        golden["token_type_ids"],
    )
    with torch.no_grad():
        output = module([batch])
    assert_close(output, golden["A.layer3.hidden"][mask], 4 * 100)  # layers, and their longest sum: an entity vector
    assert module.encoder.layer_types == tuple(TYPES)


def test_the_text_side_is_a_hugging_face_folder(original, tmp_path):
    import_ernie(original, tmp_path / "ernie")
    assert AutoModel.from_pretrained(tmp_path / "ernie", add_pooling_layer=False).config.hidden_size == 32
    assert AutoTokenizer.from_pretrained(tmp_path / "ernie").tokenize("一丁") == ["一", "丁"]
    files = {path.name for path in (tmp_path / "ernie").iterdir()}
    assert {"config.json", "model.safetensors", "vocab.txt", "ernie.json", "fusion.safetensors"} <= files
    assert not any(name.endswith((".bin", ".pt", ".pkl")) for name in files)


def test_a_saved_ernie_is_exported_and_read_again(original, tmp_path):
    import_ernie(original, tmp_path / "ernie")
    nlp = make_pipeline(tmp_path / "ernie")
    nlp.to_disk(tmp_path / "saved")
    result = CliRunner().invoke(lexner, ["export-hf", str(tmp_path / "saved"), str(tmp_path / "exported")])
    assert result.exit_code == 0 and "ernie, 4 layers of 32, 60 wordpieces" in " ".join(result.output.split())
    again = make_pipeline(tmp_path / "exported")
    states = [pipe.get_pipe("tok2vec").model.shims[0].module.encoder.state_dict() for pipe in (nlp, again)]
    assert set(states[0]) == set(states[1])
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_a_bert_initialises_the_text_side_alone(original, tmp_path):
    import_ernie(original, tmp_path / "ernie")
    for name in ("ernie.json", "fusion.safetensors"):
        (tmp_path / "ernie" / name).unlink()
    module = make_pipeline(tmp_path / "ernie", width=8).get_pipe("tok2vec").model.shims[0].module
    text = AutoModel.from_pretrained(tmp_path / "ernie", add_pooling_layer=False)
    assert all(torch.equal(a, b) for a, b in zip(module.encoder.text.parameters(), text.parameters()))
    assert module.encoder.layer_types == ("sim", "mix", "norm", "norm")
    assert module.encoder.entity_width == 8


def test_a_lexicon_of_another_width_than_the_checkpoint_is_refused(original, tmp_path):
    import_ernie(original, tmp_path / "ernie")
    with pytest.raises(ValueError, match="vectors of 8 dimensions, but the encoder reads entity vectors of 100"):
        make_pipeline(tmp_path / "ernie", width=8)


@pytest.mark.parametrize("types", [TYPES, ["sim", "sim", "mix", "sim"], ["sim"]])
def test_layer_types_that_fit_the_checkpoint_keep_its_entity_side(original, tmp_path, types):
    import_ernie(original, tmp_path / "ernie")
    encoders = [
        make_pipeline(tmp_path / "ernie", **settings).get_pipe("tok2vec").model.shims[0].module.encoder
        for settings in ({}, {"layer_types": types})
    ]
    used = [i for i, kind in enumerate(types) if kind != "sim"]
    assert encoders[1].layer_types == (*types, *["sim"] * (4 - len(types)))
    for layers in zip(*([encoder.fusion[str(i)] for i in used] for encoder in encoders)):
        assert all(torch.equal(*pair) for pair in zip(*(layer.parameters() for layer in layers)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer_types": ["sim", "mix", "norm", "norm"]}, r"layer_types\[1\] is 'mix', but 'sim' in the checkpoint"),
        ({"entity_heads": 2}, "entity_heads is 2, but 4 in the checkpoint: leave that setting out"),
    ],
)
def test_settings_that_are_not_those_of_the_entity_side_are_refused(original, tmp_path, settings, message):
    import_ernie(original, tmp_path / "ernie")
    with pytest.raises(ValueError, match=message):
        make_pipeline(tmp_path / "ernie", **settings)


class Malicious:
    def __reduce__(self):
        return Path.touch, (Path("executed"),)


def test_objects_in_the_file_of_weights_are_refused_never_built(original, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (original / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": Malicious()}, protocol=2))
    with pytest.raises(ValueError, match=r"pytorch_model.bin is not a file of weights"):
        import_ernie(original, tmp_path / "ernie")
    torch.save({"weight": Malicious()}, original / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"pytorch_model.bin is not a file of weights"):
        import_ernie(original, tmp_path / "ernie")
    assert not (tmp_path / "executed").exists() and not (tmp_path / "ernie").exists()


def test_what_is_no_ernie_is_named(original, tmp_path):
    state = torch.load(original / "pytorch_model.bin", weights_only=True)
    cases = [
        ({name: tensor for name, tensor in state.items() if "_ent" not in name}, "has no entity side: it is a BERT"),
        (
            {name: tensor for name, tensor in state.items() if "layer.1." not in name},
            "layer.1.* is missing",
        ),
        ({**state, "bert.other.weight": torch.zeros(2)}, "text.other.weight is not known"),
        ({**state, "module.bert.pooler.dense.bias": torch.zeros(32)}, None),
        ({"name": "text"}, "expected a dictionary of tensors"),
    ]
    for saved, message in cases:
        torch.save(saved, original / "pytorch_model.bin")
        if message is None:
            import_ernie(original, tmp_path / "fine")
        else:
            with pytest.raises(ValueError, match=message):
                import_ernie(original, tmp_path / "ernie")
    (original / "pytorch_model.bin").write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(ValueError, match="is incomplete"):
        import_ernie(original, tmp_path / "ernie")
    (original / "pytorch_model.bin").unlink()
    with pytest.raises(ValueError, match="does not exist"):
        import_ernie(original, tmp_path / "ernie")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("{", "ernie_config.json is not the config of an ERNIE"),
        (json.dumps({"hidden_size": 32}), "KeyError: 'layer_types'"),
        (json.dumps({**CONFIG, "layer_types": ["sim", "nrom"]}), "nrom.*; expected sim, mix, norm"),
        (json.dumps({**CONFIG, "hidden_size": 48}), "do not fit its config"),
        (json.dumps({**CONFIG, "hidden_size": "32"}), "hidden_size of the encoder is '32'; expected a number"),
        (json.dumps({**CONFIG, "num_attention_heads": 0}), "does not describe a BERT"),
        (json.dumps({**CONFIG, "hidden_act": "gleu"}), "does not describe a BERT .*gleu"),
    ],
)
def test_a_config_that_does_not_fit_is_named(original, tmp_path, config, message):
    (original / "ernie_config.json").write_text(config)
    with pytest.raises(ValueError, match=message):
        import_ernie(original, tmp_path / "ernie")
    (original / "ernie_config.json").unlink()
    with pytest.raises(ValueError, match=r"has no config: expected one of ernie_config.json"):
        import_ernie(original, tmp_path / "ernie")


def test_a_vocabulary_with_more_pieces_than_the_checkpoint_is_refused(original, tmp_path):
    (original / "vocab.txt").write_text("\n".join([*PIECES, "猫"]) + "\n", "utf8")
    with pytest.raises(ValueError, match=r"vocab\.txt has 61 pieces, but the checkpoint knows 60"):
        import_ernie(original, tmp_path / "ernie")


@pytest.mark.parametrize("heads", [0, -2, 3])
def test_heads_that_the_entity_vectors_cannot_have(original, tmp_path, heads):
    with pytest.raises(ValueError, match=f"{heads} entity heads cannot share entity vectors of width 100"):
        import_ernie(original, tmp_path / "ernie", entity_heads=heads)
    assert not (tmp_path / "ernie").exists()


def test_the_original_is_never_replaced(original):
    before = sorted(path.name for path in original.iterdir())
    for target in (original, original.parent):
        with pytest.raises(ValueError, match=r"cannot be replaced, since that would remove .*ernie_base"):
            import_ernie(original, target, overwrite=True)
    assert sorted(path.name for path in original.iterdir()) == before


def test_the_command(original, tmp_path):
    def run(*arguments):
        return CliRunner().invoke(lexner, ["import", "ernie", *map(str, arguments)])

    result = run(original, tmp_path / "ernie")
    output = " ".join(result.output.split())
    assert result.exit_code == 0 and "layers sim sim mix norm, entity vectors of 100 dimensions" in output
    assert run(original, tmp_path / "ernie").exit_code == 1
    assert run(original, tmp_path / "ernie", "--force").exit_code == 0
    assert "Nothing was written" in run(tmp_path, tmp_path / "other").output


def test_every_parameter_of_the_original_has_a_name(fixtures_dir):
    state = load_file(fixtures_dir / "ernie" / "state_dict_pretraining.safetensors")
    parts = rename_parameters(state)
    assert sum(map(len, parts)) == len(state) - 1  # the tied decoder
    assert len(set().union(*parts)) == sum(map(len, parts))
