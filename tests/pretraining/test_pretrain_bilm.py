"""`spacy pretrain` with PretrainBiLM.v1, from the config to the saved encoder and its perplexity."""

import math
from pathlib import Path

import numpy as np
import pytest
import srsly
import torch
from spacy import util
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.pretrain import create_pretraining_model
from spacy.training.pretrain import pretrain as spacy_pretrain
from spacy.util import registry

from spacy_lexner.cli.data.count_words import count_words, load_tokenizer
from spacy_lexner.encoders.elmo.counted_words import write_counted_words
from spacy_lexner.pretraining.perplexity import load_language_model, measure_perplexity

MODEL, OBJECTIVE = "components.tok2vec.model", "pretraining.objective"
TEXT = "南京市长江大桥很长。"


@pytest.fixture(scope="module")
def words(pretraining_texts, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("words") / "words.tsv"
    counter = count_words([pretraining_texts / "text.txt"], load_tokenizer("blank:zh"))
    write_counted_words(counter.most_common(), path)
    return path


@pytest.fixture
def bilm_config(pretraining_config, words):
    """Makes a full config; overrides are given as {"dotted.name": value}."""

    def make(overrides=None):
        sections = {
            "nlp.pipeline": ["tok2vec"],
            "initialize.before_init": None,
            "corpora.pretrain.sentences": False,
            "pretraining.optimizer.learn_rate.initial_rate": 0.03,
            "pretraining.optimizer.learn_rate.total_steps": 400,
            MODEL: {
                "@architectures": "spacy-lexner.ELMo.v1",
                "vocab": str(words),
                "embedding_dim": 4,
                "filters": [[1, 8], [2, 8]],
                "projection_dim": 12,
                "cell_dim": 16,
                "freeze": True,
            },
            OBJECTIVE: {
                "@architectures": "spacy-lexner.PretrainBiLM.v1",
                "words": str(words),
                "log_every": 0,
                "progress_bar": False,
            },
        }
        return pretraining_config({**sections, **(overrides or {})})

    return make


def run(config, folder, **options):
    folder.mkdir(exist_ok=True)
    spacy_pretrain(config, folder, silent=True, **options)
    return folder


def make_model(config):
    nlp = util.load_model_from_config(config)
    settings = registry.resolve(nlp.config.interpolate()["pretraining"])
    return nlp, create_pretraining_model(nlp, settings)


def weights(path, config):
    """The parameters in a saved file, read as `init_tok2vec` reads it."""
    model = util.load_model_from_config(config).get_pipe("tok2vec").model
    model.from_bytes(path.read_bytes())
    return {name: p.detach().numpy() for name, p in model.shims[0].module.named_parameters()}


SOFTMAXES = [
    {},
    {f"{OBJECTIVE}.softmax": "sampled", f"{OBJECTIVE}.n_samples": 8},
    {f"{OBJECTIVE}.softmax": "adaptive", f"{OBJECTIVE}.cutoffs": [10, 2000]},
]


@pytest.mark.parametrize("softmax", SOFTMAXES)
def test_perplexity_falls_and_is_logged(bilm_config, tmp_path, softmax):
    log = tmp_path / "log.jsonl"
    config = bilm_config(
        {**softmax, f"{OBJECTIVE}.log_every": 5, f"{OBJECTIVE}.log_path": str(log), "pretraining.max_epochs": 12}
    )
    run(config, tmp_path / "out")
    records = list(srsly.read_jsonl(log))
    assert records[-1]["perplexity"] < 0.75 * records[0]["perplexity"]
    assert records[0]["perplexity"] < 50  # close to the size of the vocabulary at first
    mean = (records[0]["forward_loss"] + records[0]["backward_loss"]) / 2
    sampled = f"{OBJECTIVE}.n_samples" in softmax
    # The log has losses to 4 digits after the point, and perplexities to 2.
    tolerance = 0.5e-2 + 0.5e-4 * records[0]["perplexity"]
    assert (math.exp(mean) == pytest.approx(records[0]["perplexity"], rel=0, abs=tolerance)) != sampled
    assert (tmp_path / "out" / "model-last.bin").exists()


@pytest.mark.parametrize("softmax", SOFTMAXES)
def test_a_resumed_run_gives_the_weights_of_an_unbroken_one(bilm_config, tmp_path, softmax):
    unbroken = run(bilm_config({**softmax, "pretraining.max_epochs": 4}), tmp_path / "unbroken")
    killed = run(bilm_config({**softmax, "pretraining.max_epochs": 2}), tmp_path / "killed")
    config = bilm_config({**softmax, "pretraining.max_epochs": 4})
    resumed = run(config, tmp_path / "killed", resume_path=killed / "model1.bin", epoch_resume=None)
    expected, found = (weights(folder / "model3.bin", config) for folder in (unbroken, resumed))
    before = weights(killed / "model1.bin", config)
    assert expected.keys() == found.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)
    assert not np.array_equal(before["bilm.layers.0.bias"], expected["bilm.layers.0.bias"])


def test_every_parameter_learns_even_if_frozen(bilm_config):
    nlp, model = make_model(bilm_config())
    losses, backprop = model.begin_update([nlp.make_doc(TEXT), nlp.make_doc(""), nlp.make_doc("大桥")])
    loss, gradient = model.attrs["loss"](model.ops, [], losses)
    backprop(gradient)
    assert loss == float(losses.total.detach()) and losses.parts["forward"].n_labels == 10 + 1 + 2 + 1
    for node in ("node", "heads"):
        for name, parameter in model.get_ref(node).shims[0].module.named_parameters():
            if not name.startswith("mixes"):
                assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_no_word_sees_itself(bilm_config):
    """The loss of predicting a word must not depend on that word's characters, in either direction."""
    nlp, model = make_model(bilm_config({f"{OBJECTIVE}.dropout": 0.0, f"{MODEL}.lstm_dropout": 0.0}))
    module = model.get_ref("node").shims[0].module.eval()
    first, second = nlp.make_doc("南京市长江"), nlp.make_doc("南京大长江")
    tops = []
    for doc in (first, second):
        inputs = model.attrs["task"].prepare(model.get_ref("node"), [doc]).inputs
        tops.append(module(*inputs.args, **inputs.kwargs).detach())
    # Row 3 is the word that differs; it is predicted from row 2 forwards and from row 4 backwards.
    assert torch.equal(tops[0][:3, :12], tops[1][:3, :12]) and not torch.equal(tops[0][3:, :12], tops[1][3:, :12])
    assert torch.equal(tops[0][4:, 12:], tops[1][4:, 12:]) and not torch.equal(tops[0][:4, 12:], tops[1][:4, 12:])


def test_a_batch_without_tokens(bilm_config):
    nlp, model = make_model(bilm_config())
    losses, backprop = model.begin_update([nlp.make_doc(""), nlp.make_doc("")])
    loss, gradient = model.attrs["loss"](model.ops, [], losses)
    assert loss == 0.0 and backprop(gradient) == []


def test_pretrained_weights_are_used_in_training(bilm_config, tmp_path):
    folder = run(bilm_config({"pretraining.max_epochs": 1}), tmp_path / "out")
    config = bilm_config({"initialize.init_tok2vec": str(folder / "model-last.bin")})
    config["corpora"]["train"] = config["corpora"]["dev"] = {"@readers": "test.one_text.v1"}
    nlp = init_nlp(config)
    module = nlp.get_pipe("tok2vec").model.shims[0].module
    for name, values in weights(folder / "model-last.bin", config).items():
        np.testing.assert_array_equal(dict(module.named_parameters())[name].detach().numpy(), values)


@registry.readers("test.one_text.v1")
def create_one_text():
    return lambda nlp: [Example(nlp.make_doc(TEXT), nlp.make_doc(TEXT))]


@pytest.mark.parametrize("softmax", SOFTMAXES)
def test_perplexity_of_a_saved_model(bilm_config, tmp_path, softmax):
    config = bilm_config({**softmax, "pretraining.max_epochs": 8})
    folder = run(config, tmp_path / "out")
    early, late = (load_language_model(config, folder / name) for name in ("model0.bin", "model-last.bin"))
    texts = [TEXT, "", "北京大学在北京。"]
    before, after = (measure_perplexity(model, [nlp.make_doc(text) for text in texts]) for nlp, model in (early, late))
    assert after.perplexity < 0.8 * before.perplexity
    assert after.n_words == 18 + 2 and after.n_tokens == after.n_characters == 18 and after.n_unknown == 0
    assert after.bits_per_character == pytest.approx(math.log2(after.perplexity) * 20 / 18)
    nlp, model = late
    assert measure_perplexity(model, [nlp.make_doc(TEXT + "𠮷")]).n_unknown == 1
    with pytest.raises(ValueError, match="the text is empty"):
        measure_perplexity(model, [nlp.make_doc("")])


def test_other_words_than_those_of_the_run(bilm_config, tmp_path):
    folder = run(bilm_config({"pretraining.max_epochs": 1}), tmp_path / "out")
    nlp, model = load_language_model(bilm_config({f"{OBJECTIVE}.max_words": 10}), folder / "model0.bin")
    with pytest.raises(ValueError, match="started with a different vocabulary"):
        model.predict([nlp.make_doc(TEXT)])


def test_a_file_without_the_softmax(bilm_config, tmp_path):
    config = bilm_config({"pretraining.max_epochs": 1, f"{OBJECTIVE}.resumable": False})
    folder = run(config, tmp_path / "out")
    with pytest.raises(ValueError, match="resumable = true"):
        load_language_model(config, folder / "model0.bin")


@pytest.mark.parametrize(
    "overrides, message",
    [
        ({f"{OBJECTIVE}.words": None}, "no words to predict"),
        ({f"{OBJECTIVE}.words": "missing.tsv"}, "missing.tsv does not exist. Make a file of counted words"),
        ({f"{OBJECTIVE}.softmax": "hierarchical"}, "softmax is 'hierarchical'; expected one of"),
        ({f"{OBJECTIVE}.softmax": "sampled"}, "n_samples is 8192; expected 1 to"),
        ({f"{OBJECTIVE}.softmax": "adaptive"}, r"has only \d+ words, too few .* cutoffs = \[.*\]: set .*\"full\""),
        ({MODEL: {"@architectures": "spacy.HashEmbedCNN.v2", "width": 8, "depth": 1, "embed_size": 10,
                  "window_size": 1, "maxout_pieces": 2, "subword_features": False, "pretrained_vectors": None}},
         ", found 0"),
    ],
)  # fmt: skip
def test_wrong_settings(bilm_config, overrides, message):
    with pytest.raises(ValueError, match=message):
        make_model(bilm_config(overrides))
