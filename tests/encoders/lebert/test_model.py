"""LEBERT against two public implementations (tests/fixtures/lebert) and itself in other shapes."""

import copy
import pickle
import re

import pytest
import torch
from safetensors.torch import load_file
from tolerance import assert_all_close, assert_close, moved
from transformers import BertConfig, DistilBertConfig, ElectraConfig, RobertaConfig
from transformers.models.albert import AlbertConfig

from spacy_lexner.encoders.lebert.model import LEBERT, LEBERTBatch, build_lebert
from spacy_lexner.encoders.shared.bert_shaped import build_encoder, config_settings
from spacy_lexner.encoders.shared.words import Words

RECORDED = 4 * 64  # layers of the recorded runs, and their longest sum
SMALL = 3 * 32  # of the small encoders below
ADAPTER_NAMES = {
    "attn_W": "attention",
    "word_transform.": "word_in.",
    "word_word_weight.": "word_out.",
    "fuse_layernorm.": "norm.",
    "linear1.": "word_in.",
    "linear2.": "word_out.",
    "layer_norm.": "norm.",
}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def our_name(name):
    """The name that a parameter of either implementation has here; None for one that has no counterpart."""
    if re.search(r"pooler|position_ids|crf|hidden2tag|classifier", name):
        return None
    if name == "word_embeddings.weight":
        return "words.tuned"
    for theirs, ours in ADAPTER_NAMES.items():
        match = re.fullmatch(rf"bert\.encoder\.(?:layer\.(\d+)|word_embedding_adapter)\.{re.escape(theirs)}(\w*)", name)
        if match:
            return f"adapters.{match[1] or 0}.{ours}{match[2]}"
    return name.replace("bert.", "encoder.", 1)


def load_reference(path):
    """A reference's tensors, and a LEBERT with its weights. Row 0 of its word table is the padding word."""
    data = load_file(path)
    layers = {match[1] for match in (re.match(r"sd\.bert\.encoder\.layer\.(\d+)\.", name) for name in data) if match}
    config = BertConfig(
        vocab_size=200,
        hidden_size=32,
        num_hidden_layers=len(layers),
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        **NO_DROPOUT,
    )
    word_table = data["sd.word_embeddings.weight"]
    module = LEBERT(
        build_encoder(config_settings(config)),
        [0],
        word_width=word_table.shape[1],
        n_tuned=len(word_table) - 1,
        dropout=0.0,
        empty="pad",
    )
    state = {our_name(name[3:]): tensor for name, tensor in data.items() if name.startswith("sd.")}
    state.pop(None)
    table = state.pop("words.tuned")
    state["words.padding"], state["words.tuned"] = table[:1], table[1:]
    unfilled = module.load_state_dict(state, strict=False)
    assert not unfilled.unexpected_keys
    assert sorted(unfilled.missing_keys) == ["words.by_length", "words.tuned_hashes"]
    return data, module.eval()


def reference_batch(data, word_ids=None):
    """The batch of a reference. Its word ids are rows of the word table, 0 the padding word: just our slots."""
    slots = data["word_ids"] if word_ids is None else word_ids
    n_words = len(data["sd.word_embeddings.weight"]) - 1
    none = torch.zeros(n_words, data["sd.word_embeddings.weight"].shape[1])
    words = Words(none, torch.zeros(n_words, dtype=torch.bool), torch.full((n_words,), 2), torch.arange(n_words))
    mask = data["attention_mask"].bool()
    return LEBERTBatch(data["input_ids"], mask, torch.arange(mask.numel()), slots, words)


def run(module, batch):
    """All hidden states, [B, L, H], those before the first layer first."""
    seen = []
    hooks = [
        layer.register_forward_hook(lambda *arguments: seen.append(arguments[-1]))
        for layer in (module.encoder.embeddings, *module.encoder.encoder.layer)
    ]
    last = module([batch]).view(*batch.input_ids.shape, -1)
    for hook in hooks:
        hook.remove()
    states = [state if isinstance(state, torch.Tensor) else state[0] for state in seen]
    assert torch.equal(states[-1], last)
    return states


def crf_loss(emissions, tags, mask, transitions, start, end):
    """Negative log-likelihood of the gold paths, summed over the batch: the plain forward algorithm."""
    total = emissions.new_zeros(())
    for scores, gold, length in zip(emissions, tags, mask.sum(dim=1).tolist()):
        scores, gold = scores[:length], gold[:length]
        alpha = start + scores[0]
        for row in scores[1:]:
            alpha = torch.logsumexp(alpha[:, None] + transitions, dim=0) + row
        path = start[gold[0]] + end[gold[-1]] + transitions[gold[:-1], gold[1:]].sum()
        path = path + scores.gather(1, gold[:, None]).sum()
        total = total + torch.logsumexp(alpha + end, dim=0) - path
    return total


def check_hidden(states, data, prefix=""):
    valid = data["attention_mask"].bool()
    for i, state in enumerate(states):
        assert_close(state[valid], data[f"{prefix}hidden_{i}"][valid], RECORDED)


def check_gradients(module, others, data, prefix):
    """others: gradients of what lies above the encoder, by the reference's name."""
    ours = {name: parameter.grad for name, parameter in module.named_parameters()}
    ours["words.tuned"] = torch.cat([ours["words.padding"], ours["words.tuned"]])
    names = [name for name in data if name.startswith(prefix)]
    assert len(names) >= 11
    theirs = {name[len(prefix) :]: data[name] for name in names}
    gradients = {name: others[name] if name in others else ours[our_name(name)] for name in theirs}
    assert_all_close(gradients, theirs, 2 * RECORDED)  # forward and backward


def test_parity_with_the_authors_code(fixtures_dir):
    data, module = load_reference(fixtures_dir / "lebert" / "lw_add0.safetensors")
    states = run(module, reference_batch(data))
    check_hidden(states, data)
    head = {name: data[f"sd.{name}"].clone().requires_grad_() for name in ("hidden2tag.weight", "hidden2tag.bias")}
    transitions = data["sd.crf.transitions"].clone().requires_grad_()  # [from, to], START = -2, STOP = -1
    logits = states[-1] @ head["hidden2tag.weight"].t() + head["hidden2tag.bias"]
    valid = data["attention_mask"].bool()
    assert_close(logits[valid], data["logits"][valid], RECORDED)
    loss = crf_loss(logits, data["labels"], valid, transitions, transitions[-2], transitions[:, -1])
    assert_close(loss, data["loss"][0], RECORDED, scale=len(logits[valid]) * logits.abs().max())
    loss.backward()
    others = {name: parameter.grad for name, parameter in head.items()}
    check_gradients(module, {**others, "crf.transitions": transitions.grad}, data, "grad.")


def test_parity_with_the_other_code(fixtures_dir):
    """With its mask corrected; its loss is the mean over the batch."""
    data, module = load_reference(fixtures_dir / "lebert" / "yj_add0.safetensors")
    states = run(module, reference_batch(data))
    check_hidden(states, data, "corrected.")
    names = ("classifier.weight", "classifier.bias", *(f"crf.{x}transitions" for x in ("", "start_", "end_")))
    head = {name: data[f"sd.{name}"].clone().requires_grad_() for name in names}
    logits = states[-1] @ head["classifier.weight"].t() + head["classifier.bias"]
    valid = data["attention_mask"].bool()
    crf = (head["crf.transitions"], head["crf.start_transitions"], head["crf.end_transitions"])
    loss = crf_loss(logits, data["labels"], valid, *crf) / len(valid)
    assert_close(loss, data["corrected.loss"][0], RECORDED, scale=len(logits[valid]) * logits.abs().max())
    loss.backward()
    check_gradients(module, {name: parameter.grad for name, parameter in head.items()}, data, "corrected.grad.")


def test_what_the_other_code_does_as_written(fixtures_dir):
    """Its mask hides the words and shows the padding: a token gets the padding word, unless all slots are filled, where
    it gets the plain mean. That is our adapter without attention, and without words where a slot is empty."""
    data, module = load_reference(fixtures_dir / "lebert" / "yj_add0.safetensors")
    torch.nn.init.zeros_(module.adapters["0"].attention)
    full = (data["word_ids"] != 0).all(dim=-1, keepdim=True)
    check_hidden(run(module, reference_batch(data, data["word_ids"] * full)), data, "literal.")


def small_config(config_class, **changes):
    sizes = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2}
    return config_class(**{**sizes, "intermediate_size": 32, "max_position_embeddings": 40, **NO_DROPOUT, **changes})


def small_lebert(config=None, adapter_layers=(0, 2), **arguments):
    torch.manual_seed(0)
    encoder = build_encoder(config_settings(config or small_config(BertConfig)))
    return LEBERT(encoder, adapter_layers, word_width=6, **{"dropout": 0.0, **arguments})


def small_batch(n_rows=2, length=7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    words = Words(
        torch.randn(4, 6, generator=generator),
        torch.tensor([True, True, False, True]),
        torch.tensor([2, 3, 2, 1]),
        torch.full((4,), -1),
    )
    ids = torch.randint(5, 50, (n_rows, length), generator=generator)
    slots = torch.randint(0, 5, (n_rows, length, 2), generator=generator)
    return LEBERTBatch(ids, torch.ones_like(ids, dtype=torch.bool), torch.arange(n_rows * length), slots, words)


@pytest.mark.parametrize("config_class", [BertConfig, RobertaConfig, ElectraConfig])
def test_any_bert_shaped_encoder(config_class):
    config = small_config(config_class, **({"embedding_size": 8} if config_class is ElectraConfig else {}))
    module, batch = small_lebert(config).eval(), small_batch()
    assert module([batch]).shape == (14, 16)
    without_words = batch._replace(slots=torch.zeros_like(batch.slots))
    assert moved(module([batch]), module([without_words]), SMALL).any()


def test_distilbert_too():
    config = DistilBertConfig(vocab_size=50, dim=16, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=40)
    module, batch = small_lebert(config, [1]).eval(), small_batch()
    without_words = batch._replace(slots=torch.zeros_like(batch.slots))
    assert moved(module([batch]), module([without_words]), SMALL).any()


def test_shared_layers_are_refused_with_adapters_only():
    config = small_config(AlbertConfig, embedding_size=8)
    with pytest.raises(ValueError, match=r"'albert' has no list of its 3 layers.*adapter_layers = \[\]"):
        small_lebert(config, [0])
    assert small_lebert(config, []).eval()([small_batch()]).shape == (14, 16)


def test_without_adapters_it_is_the_plain_encoder():
    module, batch = small_lebert(adapter_layers=[]).eval(), small_batch()
    assert module.words is None
    expected = module.encoder(batch.input_ids).last_hidden_state
    assert_close(module([batch]), expected.flatten(0, 1), SMALL)
    assert all(name.startswith("encoder.") for name in module.state_dict())


def test_pairs_of_texts_have_segments():
    module, batch = small_lebert(adapter_layers=[]).eval(), small_batch()
    segments = (torch.arange(7) > 3).long().expand(2, 7)
    expected = module.encoder(batch.input_ids, token_type_ids=segments).last_hidden_state
    assert_close(module([batch._replace(segments=segments)]), expected.flatten(0, 1), SMALL)
    assert moved(module([batch]), expected.flatten(0, 1), SMALL).any()


def test_padding_and_company_change_nothing():
    module, long, short = small_lebert().eval(), small_batch(1, 9, seed=1), small_batch(1, 5, seed=2)
    alone = torch.cat([module([long]), module([short])])
    assert_close(module([long, short]), alone, SMALL)
    ids, slots = torch.zeros(2, 9, dtype=torch.int64), torch.zeros(2, 9, 2, dtype=torch.int64)
    ids[0], ids[1, :5], slots[0], slots[1, :5] = (
        long.input_ids[0],
        short.input_ids[0],
        long.slots[0],
        short.slots[0] + 4,
    )
    slots[1][slots[1] == 4] = 0
    words = Words(*(torch.cat(pair) for pair in zip(long.words[:4], short.words[:4])))
    together = LEBERTBatch(ids, ids != 0, torch.arange(14), slots * (ids != 0)[..., None], words)
    assert_close(module([together]), alone, SMALL)


@pytest.mark.parametrize("adapter_layers", [[3], [-1], [0, 0]])
def test_adapter_layers_are_checked(adapter_layers):
    with pytest.raises(ValueError, match=r"does not fit an encoder of 3 layers: give different numbers from 0 to 2"):
        small_lebert(adapter_layers=adapter_layers)


def test_each_adapter_has_its_own_weights_and_all_of_them_learn():
    module = small_lebert().train()
    module([small_batch()]).pow(2).sum().backward()
    first, second = module.adapters["0"], module.adapters["2"]
    assert not torch.equal(first.attention, second.attention)
    unused = {"words.tuned"}  # no fine-tuned words: a table without rows
    assert {name for name, parameter in module.named_parameters() if parameter.grad is None} <= unused
    for adapter in (first, second):
        assert adapter.attention.grad.any() and adapter.word_in.weight.grad.any()


def test_gradient_checkpointing_gives_the_same_gradients():
    """Two forward passes before the first backward pass: each must use its own words."""
    batches = [small_batch(seed=1), small_batch(1, 4, seed=2)]
    gradients = []
    for gradient_checkpointing in (False, True):
        module = small_lebert(gradient_checkpointing=gradient_checkpointing).train()
        module(batches).pow(2).sum().backward()
        gradients.append({name: parameter.grad for name, parameter in module.named_parameters()})
    assert module.encoder.is_gradient_checkpointing
    assert_all_close(gradients[1], gradients[0], 2 * SMALL)


def test_batches_without_words_are_refused():
    with pytest.raises(ValueError, match="a batch needs `words` and `slots`"):
        small_lebert()([small_batch()._replace(words=None)])


def test_build_from_settings_and_copies():
    config = small_config(BertConfig)
    settings = {"encoder": config_settings(config), "lebert": {"adapter_layers": [1], "word_width": 6}}
    module, batch = build_lebert(settings).eval(), small_batch()
    for copied in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(copied([batch]), module([batch]))
        torch.nn.init.zeros_(copied.adapters["1"].norm.weight)
        assert moved(copied([batch]), module([batch]), SMALL).any()
