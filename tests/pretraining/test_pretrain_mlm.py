"""`spacy pretrain` with PretrainMLM.v1, from the config to the saved encoder."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
import torch
from safetensors.torch import load as load_safetensors
from spacy import util
from spacy.training.pretrain import create_pretraining_model
from spacy.training.pretrain import pretrain as spacy_pretrain
from spacy.util import registry
from tolerance import assert_all_close, near

from spacy_lexner.encoders.lebert.model import LEBERT
from spacy_lexner.pretraining.heads import cross_entropy
from spacy_lexner.pretraining.mlm import create_pretrain_mlm

MODEL = "components.tok2vec.model"
OBJECTIVE = "pretraining.objective"
TEXT = "南京市长江大桥很长。"


def run(config, folder, **options):
    folder.mkdir(exist_ok=True)
    spacy_pretrain(config, folder, silent=True, **options)
    return folder


def make_model(config):
    """The pipeline and the objective, as `spacy pretrain` makes them."""
    nlp = util.load_model_from_config(config)
    settings = registry.resolve(nlp.config.interpolate()["pretraining"])
    return nlp, create_pretraining_model(nlp, settings)


def weights(path, config):
    """The parameters in a saved file, read as `init_tok2vec` reads it."""
    nlp = util.load_model_from_config(config)
    model = nlp.get_pipe("tok2vec").model
    model.from_bytes(path.read_bytes())
    return {name: p.detach().numpy() for name, p in model.shims[0].module.named_parameters()}


@pytest.mark.parametrize(
    "overrides",
    [
        {},
        {f"{MODEL}.adapter_layers": []},
        {f"{OBJECTIVE}.masking": "whole_word", f"{OBJECTIVE}.words": "lexicon"},
        {f"{OBJECTIVE}.masking": "ngram", f"{OBJECTIVE}.ngram_shares": [1.0, 0.5]},
        {f"{OBJECTIVE}.next_sentence": True, f"{OBJECTIVE}.max_length": 24},
        {f"{MODEL}.words": "finetuned", "initialize.before_init": {"@callbacks": "test.load_lexicon_and_texts"}},
    ],
)
def test_the_loss_falls(pretraining_config, tmp_path, overrides):
    log = tmp_path / "log.jsonl"
    overrides = {**overrides, f"{OBJECTIVE}.log_every": 4, f"{OBJECTIVE}.log_path": str(log)}
    config = pretraining_config({"pretraining.max_epochs": 12, **overrides})
    run(config, tmp_path / "out")
    records = list(srsly.read_jsonl(log))
    assert records[-1]["masked_lm_loss"] < records[0]["masked_lm_loss"] - 0.3
    assert 0 <= records[-1]["masked_lm_accuracy"] <= 1
    assert ("next_sentence_accuracy" in records[-1]) == (f"{OBJECTIVE}.next_sentence" in overrides)
    assert (tmp_path / "out" / "model-last.bin").exists()


@registry.callbacks("test.load_lexicon_and_texts")
def create_lexicon_and_text_loader():
    from spacy_lexner.training.callbacks import TextCollector

    load = registry.callbacks.get("test.load_lexicon")()

    def corpus(nlp):
        return [spacy.training.Example(doc, doc) for doc in [nlp.make_doc(TEXT)]]

    return lambda nlp: TextCollector(corpus)(load(nlp))


def test_every_parameter_of_the_encoder_and_the_heads_learns(pretraining_config):
    nlp, model = make_model(pretraining_config({f"{OBJECTIVE}.next_sentence": True, f"{OBJECTIVE}.share": 0.5}))
    docs = [doc for example in registry.resolve(nlp.config["corpora"])["pretrain"](nlp) for doc in [example.reference]]
    losses, backprop = model.begin_update(docs)
    loss, gradient = model.attrs["loss"](model.ops, docs, losses)
    backprop(gradient)
    encoder, heads = model.get_ref("node").shims[0].module, model.get_ref("heads").shims[0].module
    assert loss == near(losses.parts["masked_lm"].loss.item() + losses.parts["next_sentence"].loss.item(), n_terms=1)
    for module in (encoder, heads):
        for name, parameter in module.named_parameters():
            if name not in ("words.tuned", "words.padding"):
                assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_the_gradient_of_the_tied_table_is_that_of_one_graph(pretraining_config):
    """Encoder and heads run separately; the result is what torch computes for both in one."""
    nlp, model = make_model(pretraining_config({f"{MODEL}.dropout": 0.0, f"{MODEL}.attention_dropout": 0.0}))
    node, heads = model.get_ref("node"), model.get_ref("heads").shims[0].module
    module: LEBERT = node.shims[0].module
    docs = [nlp.make_doc(TEXT), nlp.make_doc("北京大学在北京。")]
    state = model.attrs["task"].rng.getstate()
    losses, backprop = model.begin_update(docs)
    backprop(1.0)
    found = {name: p.grad.clone() for name, p in module.named_parameters() if p.grad is not None}

    model.attrs["task"].rng.setstate(state)
    batch = model.attrs["task"].prepare(node, docs)
    module.zero_grad()
    table = module.encoder.get_input_embeddings().weight
    loss = cross_entropy(
        heads.masked_lm(module(*batch.inputs.args), table), torch.from_numpy(batch.targets["labels"])
    ).loss
    loss.backward()
    expected = {name: p.grad for name, p in module.named_parameters() if p.grad is not None}
    assert_all_close({"loss": losses.total, **found}, {"loss": loss, **expected}, 2 * len(table))  # both passes


def test_only_masked_positions_are_decoded(pretraining_config, monkeypatch):
    nlp, model = make_model(pretraining_config())
    docs = [nlp.make_doc("南京市长江大桥" * 20)]
    heads = model.get_ref("heads").shims[0].module
    rows = []
    handle = heads.masked_lm.transform.register_forward_hook(lambda m, i, output: rows.append(len(output)))
    losses, _ = model.begin_update(docs)
    handle.remove()
    assert rows == [losses.parts["masked_lm"].n_labels] == [round(142 * 0.15)]


def test_a_batch_with_nothing_to_predict_has_loss_zero_and_changes_nothing(pretraining_config):
    overrides = {f"{OBJECTIVE}.masking": "whole_word", f"{OBJECTIVE}.words": "lexicon"}
    nlp, model = make_model(pretraining_config(overrides))
    docs = [nlp.make_doc("南京市"), nlp.make_doc(""), nlp.make_doc("  \n")]  # one word of three, a budget of one
    before = model.get_ref("tok2vec").to_bytes()
    losses, backprop = model.begin_update(docs)
    loss, gradient = model.attrs["loss"](model.ops, docs, losses)
    backprop(gradient)
    assert loss == 0.0
    assert all(p.grad is None for p in model.get_ref("node").shims[0].module.parameters())
    assert model.get_ref("tok2vec").to_bytes() == before


def test_a_resumed_run_gives_the_weights_of_an_unbroken_one(pretraining_config, tmp_path):
    overrides = {
        f"{OBJECTIVE}.next_sentence": True,
        f"{OBJECTIVE}.masking": "whole_word",
        f"{OBJECTIVE}.max_length": 32,
    }
    unbroken = run(pretraining_config({**overrides, "pretraining.max_epochs": 5}), tmp_path / "unbroken")
    killed = run(pretraining_config({**overrides, "pretraining.max_epochs": 2}), tmp_path / "killed")
    config = pretraining_config({**overrides, "pretraining.max_epochs": 5})
    resumed = run(config, tmp_path / "killed", resume_path=killed / "model1.bin", epoch_resume=None)
    expected, found = (weights(folder / "model4.bin", config) for folder in (unbroken, resumed))
    assert set(expected) == set(found)
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
    halfway = weights(killed / "model1.bin", config)
    assert any((halfway[name] != expected[name]).any() for name in expected)


def test_a_full_disk_leaves_the_last_good_file(pretraining_config, tmp_path, monkeypatch):
    """The file that could not be written is truncated; the run resumes from the previous one as if nothing happened."""
    open_path = Path.open

    def open_on_small_disk(path, mode="r", **options):
        if path.name in ("model1.bin", "model-last.bin"):
            return FullDisk(open_path(path, mode, **options))
        return open_path(path, mode, **options)

    monkeypatch.setattr(Path, "open", open_on_small_disk)
    config = pretraining_config({"pretraining.max_epochs": 3})
    with pytest.raises(OSError, match="No space left"):
        run(config, tmp_path / "full")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="Unpack failed"):
        weights(tmp_path / "full" / "model1.bin", config)
    resumed = run(config, tmp_path / "full", resume_path=tmp_path / "full" / "model0.bin", epoch_resume=None)
    unbroken = run(config, tmp_path / "unbroken")
    expected, found = (weights(folder / "model2.bin", config) for folder in (unbroken, resumed))
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


class FullDisk:
    """A file that accepts only half of what is written."""

    def __init__(self, file_):
        self.file_ = file_

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file_.close()

    def write(self, data):
        self.file_.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_exactly(pretraining_config, tmp_path):
    """A process that gets SIGKILL in the middle of an epoch, at a random moment."""
    config = pretraining_config({"pretraining.max_epochs": 20})
    config["initialize"]["before_init"] = None
    config["nlp"]["pipeline"] = ["tok2vec"]
    config["components"] = {"tok2vec": {**config["components"]["tok2vec"]}}
    config["components"]["tok2vec"]["model"]["adapter_layers"] = []
    config.to_disk(tmp_path / "config.cfg")
    command = [sys.executable, "-m", "spacy", "pretrain", str(tmp_path / "config.cfg")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    killed = tmp_path / "killed"
    with subprocess.Popen([*command, str(killed)], env=environment, stdout=subprocess.DEVNULL) as process:
        while not (killed / "model2.bin").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    whole = max(int(path.stem[5:]) for path in killed.glob("model[0-9]*.bin")) - 1
    resume = ["--resume-path", str(killed / f"model{whole}.bin")]
    subprocess.run([*command, str(killed), *resume], env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*command, str(tmp_path / "whole")], env=environment, check=True, stdout=subprocess.DEVNULL)
    expected, found = (weights(folder / "model19.bin", config) for folder in (tmp_path / "whole", killed))
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def test_without_the_state_a_resumed_run_goes_on_from_the_encoder_alone(pretraining_config, tmp_path):
    overrides = {f"{OBJECTIVE}.resumable": False, "pretraining.max_epochs": 1}
    plain = run(pretraining_config(overrides), tmp_path / "plain")
    full = run(pretraining_config({"pretraining.max_epochs": 1}), tmp_path / "full")
    assert (plain / "model0.bin").stat().st_size < 0.5 * (full / "model0.bin").stat().st_size
    config = pretraining_config()
    expected, found = (weights(folder / "model0.bin", config) for folder in (full, plain))
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def test_schedules_of_the_optimiser_are_stepped(pretraining_config):
    nlp, model = make_model(pretraining_config())
    optimizer = registry.resolve(nlp.config.interpolate()["pretraining"])["optimizer"]
    rates = []
    for _ in range(5):
        docs = [nlp.make_doc(TEXT)]
        _, backprop = model.begin_update(docs)
        backprop(1.0)
        model.finish_update(optimizer)
        rates.append(optimizer.learn_rate)
    assert rates == pytest.approx([0.0025, 0.005, 0.0075, 0.01, 0.01])


def test_the_encoder_starts_training_from_the_saved_file(pretraining_config, tmp_path):
    run(pretraining_config({"pretraining.max_epochs": 1}), tmp_path / "out")
    path = tmp_path / "out" / "model0.bin"
    config = pretraining_config({"initialize.init_tok2vec": str(path)})
    nlp = util.load_model_from_config(config)
    nlp.initialize(lambda: [spacy.training.Example(nlp.make_doc(TEXT), nlp.make_doc(TEXT))])
    module = nlp.get_pipe("tok2vec").model.shims[0].module
    for name, values in weights(path, config).items():
        np.testing.assert_array_equal(dict(module.named_parameters())[name].detach().numpy(), values)


def test_an_encoder_inside_lex_ner_is_pretrained_and_read_back(pretraining_config, tmp_path):
    def config(**overrides):
        made = pretraining_config()
        encoder = made["components"].pop("tok2vec")["model"]
        tagger = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": encoder}
        made["components"]["lex_ner"] = {"factory": "lex_ner", "model": tagger}
        made["nlp"]["pipeline"] = ["lex_matcher", "lex_ner"]
        made["pretraining"].update(component="lex_ner", layer="tok2vec", max_epochs=1)
        made["initialize"].update(overrides)
        return util.load_model_from_config(made, auto_fill=True, validate=False).config.merge(made)

    run(config(), tmp_path / "out")
    path = tmp_path / "out" / "model0.bin"
    nlp = util.load_model_from_config(config(init_tok2vec=str(path)))
    doc = nlp.make_doc(TEXT)
    nlp.initialize(lambda: [spacy.training.Example.from_dict(doc, {"entities": [(0, 3, "LOC")]})])
    module = nlp.get_pipe("lex_ner").model.get_ref("tok2vec").shims[0].module
    saved = srsly.msgpack_loads(path.read_bytes())
    assert saved["nodes"][0]["name"] == "lebert"
    state = load_safetensors(srsly.msgpack_loads(saved["shims"][0][0])["state"])
    for name, tensor in state.items():
        assert torch.equal(module.state_dict()[name], tensor), name


def test_adapters_without_a_lexicon_are_an_error_with_the_remedy(pretraining_config):
    with pytest.raises(ValueError, match="E874") as error:  # spaCy's own output is below our message
        make_model(pretraining_config({"initialize.before_init": None}))
    assert "has no lexicon" in str(error.value.__context__)


def test_a_lexicon_sourced_from_a_saved_pipeline_serves_as_well(pretraining_config, tmp_path):
    saved = spacy.blank("zh")
    saved.add_pipe("lex_matcher").add_words(["长江大桥"])
    saved.to_disk(tmp_path / "saved")
    config = pretraining_config({"initialize.before_init": None})
    config["components"]["lex_matcher"] = {"source": str(tmp_path / "saved")}
    _, model = make_model(config)
    assert model.get_ref("node").layers[0].attrs["link"].require().matcher is not None


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({f"{OBJECTIVE}.max_length": 600}, "max_length is 600; expected at most 512 wordpieces"),
        (
            {f"{OBJECTIVE}.words": "lexicon", f"{OBJECTIVE}.masking": "ngram", f"{MODEL}.adapter_layers": []},
            "needs a lexicon: give its folder",
        ),
        ({"pretraining.component": "lex_matcher", "pretraining.layer": ""}, "."),
    ],
)
def test_what_does_not_fit_the_encoder_is_refused(pretraining_config, overrides, message):
    with pytest.raises((ValueError, AttributeError), match=message):
        make_model(pretraining_config(overrides))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"masking": "words"}, "expected one of piece, whole_word, ngram"),
        ({"words": "jieba"}, "words is 'jieba'; expected one of tokens, lexicon"),
        ({"short_share": 2.0}, "short_share is 2.0"),
        ({"max_length": 4}, "max_length is 4"),
    ],
)
def test_settings_are_checked_when_the_config_is_read(settings, message):
    with pytest.raises(ValueError, match=message):
        create_pretrain_mlm(**settings)


def test_another_model_than_lebert_is_refused():
    from thinc.api import Linear

    with pytest.raises(
        ValueError, match=r"pretrains spacy-lexner.LEBERT.v1; expected exactly one .*'linear'.*, found 0"
    ):
        create_pretrain_mlm()(spacy.blank("zh").vocab, Linear(2, 2))


def test_a_vocabulary_of_another_text_is_noticed(pretraining_config, pretraining_texts, tmp_path):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n", "utf8")
    nlp, model = make_model(pretraining_config({f"{MODEL}.vocab": str(tmp_path / "vocab.txt")}))
    with pytest.raises(ValueError, match=r"100% of the first batch's wordpieces are unknown .*of 7 pieces"):
        model.begin_update([nlp.make_doc(TEXT)])


def test_a_vocabulary_without_mask_is_refused(pretraining_config, tmp_path):
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n南\n", "utf8")
    with pytest.raises(ValueError, match="E874") as error:
        make_model(pretraining_config({f"{MODEL}.vocab": str(tmp_path / "vocab.txt")}))
    assert "lacks [MASK]" in str(error.value.__context__)


def test_documents_without_sentences_are_refused_under_next_sentence(pretraining_config):
    nlp, model = make_model(pretraining_config({f"{OBJECTIVE}.next_sentence": True}))
    with pytest.raises(ValueError, match=r"needs sentence boundaries, but the Doc '南京市.*sentences = true"):
        model.begin_update([nlp.make_doc(TEXT)])
