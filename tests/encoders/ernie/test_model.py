"""Parity of the ERNIE modules with thunlp's code: numbers in tests/fixtures/ernie."""

import json
from typing import Dict, List

import pytest
import torch
from safetensors.torch import load_file
from tolerance import assert_all_close, assert_close, near
from transformers import BertConfig, BertModel

from spacy_lexner.checkpoints.ernie import rename_parameters
from spacy_lexner.encoders.ernie.model import FusedBert, complete_layer_types
from spacy_lexner.pretraining.heads import DenoisingEntityHead, MaskedLMHead, NextSentenceHead, cross_entropy

N_TERMS = 4 * 100  # layers, and their longest sum: an entity vector
TYPES = {"A": ["sim", "sim", "mix", "norm"], "B": ["sim", "mix", "norm", "norm"], "C_default_pad": ["mix"]}


def make_config(n_layers: int = 4, **settings) -> BertConfig:
    sizes = {
        "vocab_size": 60,
        "hidden_size": 32,
        "num_hidden_layers": n_layers,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 40,
    }
    return BertConfig(**{**sizes, **settings})


def make_encoder(layer_types: List[str], n_layers: int = 4, **settings) -> FusedBert:
    return FusedBert(BertModel(make_config(n_layers), add_pooling_layer=False), layer_types, **settings).eval()


def load(module: torch.nn.Module, state: Dict[str, torch.Tensor]) -> None:
    result = module.load_state_dict(state, strict=False)
    assert not result.unexpected_keys
    assert all(name.endswith(("position_ids", "token_type_ids")) for name in result.missing_keys)


@pytest.fixture(scope="module")
def golden(fixtures_dir):
    return load_file(fixtures_dir / "ernie" / "tensors.safetensors")


@pytest.fixture(scope="module")
def meta(fixtures_dir):
    return json.loads((fixtures_dir / "ernie" / "meta.json").read_text("utf8"))


def batch(golden, entities: str = "input_ent", mask: str = "ent_mask"):
    names = ("input_ids", "attention_mask", "token_type_ids", entities, mask)
    return {
        k: golden[n]
        for k, n in zip(("input_ids", "attention_mask", "token_type_ids", "entities", "entity_mask"), names)
    }


@pytest.mark.parametrize("case", TYPES)
def test_layer_outputs_match_the_original(case, golden, fixtures_dir):
    parts = rename_parameters(load_file(fixtures_dir / "ernie" / f"state_dict_{case}.safetensors"))
    encoder = make_encoder(TYPES[case], 2 if case == "C_default_pad" else 4)
    load(encoder, parts.encoder)
    pooler = NextSentenceHead(make_config()).pooler
    pooler.load_state_dict({k.removeprefix("pooler."): v for k, v in parts.next_sentence.items()})
    valid = golden["attention_mask"].bool()
    with torch.no_grad():
        outputs = list(encoder.layer_outputs(**batch(golden)))
        pooled = pooler(outputs[-1].text)
    for i, streams in enumerate(outputs):
        assert_close(streams.text[valid], golden[f"{case}.layer{i}.hidden"][valid], N_TERMS)
        assert_close(streams.entity[valid], golden[f"{case}.layer{i}.entity"][valid], N_TERMS)
    assert_close(pooled, golden[f"{case}.pooled"], N_TERMS)
    assert not torch.equal(outputs[-1].entity, golden["input_ent"])


def test_a_batch_without_entities_matches_the_original(golden, fixtures_dir):
    encoder = make_encoder(TYPES["A"])
    load(encoder, rename_parameters(load_file(fixtures_dir / "ernie" / "state_dict_A.safetensors")).encoder)
    inputs = batch(golden)
    inputs["entities"], inputs["entity_mask"] = torch.zeros(3, 12, 100), torch.zeros(3, 12)
    valid = golden["attention_mask"].bool()
    with torch.no_grad():
        output = encoder(**inputs).text
    assert_close(output[valid], golden["A.no_entities.sequence"][valid], N_TERMS)


def test_pretraining_scores_losses_and_gradients_match_the_original(golden, meta, fixtures_dir):
    state = load_file(fixtures_dir / "ernie" / "state_dict_pretraining.safetensors")
    parts = rename_parameters(state)
    encoder = make_encoder(TYPES["A"])
    mlm, nsp, entity = MaskedLMHead(make_config()), NextSentenceHead(make_config()), DenoisingEntityHead(32, 100)
    for module, part in zip((encoder, mlm, nsp, entity), parts):
        load(module, part)
    output = encoder(**batch(golden, "pre.corrupted_input_ent", "pre.corrupted_ent_mask"))
    table = encoder.text.embeddings.word_embeddings.weight
    valid = golden["attention_mask"].bool()
    for scores, name in (
        (mlm(output.text[valid], table), "pre.prediction_scores"),
        (entity(output.text[valid], golden["pre.candidate"]), "pre.prediction_scores_ent"),
    ):
        assert_close(scores, golden[name][valid], N_TERMS)
    assert_close(nsp(output.text), golden["pre.seq_relationship_score"], N_TERMS)

    masked, mentions = golden["pre.masked_lm_labels"] >= 0, golden["pre.ent_labels"] >= 0
    losses = {
        "mlm": cross_entropy(mlm(output.text[masked], table), golden["pre.masked_lm_labels"][masked]),
        "nsp": cross_entropy(nsp(output.text), golden["pre.next_sentence_label"].flatten()),
        "dEA": cross_entropy(
            entity(output.text[mentions], golden["pre.candidate"]), golden["pre.ent_labels"][mentions]
        ),
    }
    for name, head in losses.items():
        assert head.loss.item() == near(meta["losses"][name], N_TERMS)
    torch.stack([head.loss for head in losses.values()]).sum().backward()

    expected = rename_parameters(load_file(fixtures_dir / "ernie" / "grads_pretraining.safetensors"))
    for module, gradients in zip((encoder, mlm, nsp, entity), expected):
        parameters = dict(module.named_parameters())
        ours = {name: parameters[name].grad for name in gradients}
        assert_all_close(ours, gradients, 2 * N_TERMS)  # forward and backward
    without = {name for name, parameter in encoder.named_parameters() if parameter.grad is None}
    assert without == set(rename_parameters(dict.fromkeys(meta["no_grad_parameters"], 0)).encoder)


def test_the_original_parameters_are_all_there(meta):
    for case, types in TYPES.items():
        encoder = make_encoder(types, 2 if case == "C_default_pad" else 4)
        pooler = 32 * 32 + 32
        assert sum(p.numel() for p in encoder.parameters()) + pooler == meta["configs"][case]["n_params"]


def test_padding_and_batch_mates_change_nothing(golden):
    encoder = make_encoder(["sim", "mix", "norm", "norm"])
    inputs = batch(golden)
    with torch.no_grad():
        together = encoder(**inputs)
        for i, length in enumerate(golden["attention_mask"].sum(1).tolist()):
            alone = encoder(**{name: tensor[i : i + 1, :length] for name, tensor in inputs.items()})
            assert_close(alone.text[0], together.text[i, :length], N_TERMS)


def test_what_stands_at_unaligned_positions_is_never_read(golden):
    encoder = make_encoder(["mix", "norm", "norm", "norm"])
    inputs = batch(golden)
    noisy = dict(
        inputs,
        entities=torch.where(inputs["entity_mask"][..., None].bool(), inputs["entities"], torch.randn(3, 12, 100)),
    )
    inputs["entity_mask"][:, 0] = noisy["entity_mask"][:, 0] = 0
    with torch.no_grad():
        assert torch.equal(encoder(**inputs).text, encoder(**noisy).text)


def test_entity_width_and_heads_are_arguments_and_checkpointing_keeps_the_gradients():
    torch.manual_seed(0)
    encoder = make_encoder(["sim", "mix", "norm"], entity_width=24, entity_heads=3)
    encoder.train()
    for module in encoder.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    for layer in encoder.text.encoder.layer:
        layer.attention.self.dropout_prob = 0.0
    for fusion in encoder.fusion.values():
        if fusion.attention is not None:
            fusion.attention.self.dropout_prob = 0.0
    ids, ones = torch.randint(5, 60, (2, 7)), torch.ones(2, 7, dtype=torch.long)
    mask = torch.tensor([[0, 1, 0, 0, 1, 0, 0], [0, 0, 0, 1, 0, 0, 0]])
    vectors = torch.randn(2, 7, 24, requires_grad=True)
    seen = []
    for checkpointing in (False, True):
        encoder.gradient_checkpointing = checkpointing
        encoder.zero_grad()
        vectors.grad = None
        encoder(ids, ones, torch.zeros_like(ids), vectors, mask).text.square().sum().backward()
        seen.append([vectors.grad, *[p.grad for p in encoder.parameters() if p.grad is not None]])
    assert_all_close(*seen, 2 * N_TERMS)
    assert vectors.grad[mask.bool()].abs().min() > 0
    assert not vectors.grad[~mask.bool()].any()


def test_layer_types_are_checked_and_completed():
    assert complete_layer_types(["mix"], 3) == ("mix", "sim", "sim")
    assert complete_layer_types([], 2) == ("sim", "sim")
    with pytest.raises(ValueError, match=r"layer_types\[1\] is 'norn'.*sim, mix, norm"):
        complete_layer_types(["mix", "norn"], 4)
    with pytest.raises(ValueError, match="3 layer types were given for a text model of 2 layers"):
        complete_layer_types(["sim", "mix", "norm"], 2)


def test_wrong_widths_heads_and_text_models_are_refused():
    with pytest.raises(ValueError, match="5 entity heads cannot share entity vectors of width 24"):
        make_encoder(["mix"], entity_width=24, entity_heads=5)
    with pytest.raises(ValueError, match="Linear is not a BERT-shaped model"):
        FusedBert(torch.nn.Linear(2, 2), ["mix"])
    encoder = make_encoder(["mix"], entity_width=8, entity_heads=2)
    ids = torch.ones(1, 3, dtype=torch.long)
    with pytest.raises(ValueError, match=r"width 9.*entity_width=8"):
        encoder(ids, ids, ids * 0, torch.zeros(1, 3, 9), ids)
