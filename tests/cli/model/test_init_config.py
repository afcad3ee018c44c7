"""`spacy lexner init-config`: configs that train."""

import numpy as np
import pytest
import spacy
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin, Span
from thinc.api import Config
from transformers import BertConfig
from typer.testing import CliRunner

from configs import CONFIGS, filled
from spacy_lexner.checkpoints.elmo import import_elmo
from spacy_lexner.cli.app import lexner
from spacy_lexner.cli.model.init_config import Encoder, Task
from spacy_lexner.cli.model.make_config import PAIRS, make_config
from spacy_lexner.lexicon import Lexicon, LexiconEntry

WORDS = ["武汉市", "长江", "大桥", "很", "长"]
BERT = {"hidden_width": 16, "depth": 1, "heads": 2, "intermediate_width": 16}
SMALL = {
    "flat": {"width": 16, "heads": 2},
    "soft_lexicon": {"width": 16},
    "lebert": BERT,
    "bert": BERT,
    "ernie": BERT,
    "elmo": {"embedding_dim": 4, "filters": [[1, 4], [2, 4]], "cell_dim": 8},
}


def run(*arguments):
    return CliRunner().invoke(lexner, ["init-config", *map(str, arguments)])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Texts in words with entities and spans, and a lexicon of words with entity vectors."""
    folder = tmp_path_factory.mktemp("data")
    vocab = spacy.blank("zh").vocab
    words = Doc(vocab, WORDS, spaces=[False] * 5, pos=["PROPN", "PROPN", "NOUN", "ADV", "ADJ"])
    words.ents = [Span(words, 0, 1, "GPE"), Span(words, 1, 3, "LOC")]
    words.spans["sc"] = [Span(words, 0, 1, "GPE"), Span(words, 1, 2, "LOC"), Span(words, 1, 3, "LOC")]
    DocBin(docs=[words] * 3).to_disk(folder / "texts.spacy")
    vectors = np.random.default_rng(0).normal(size=(3, 4)).astype("f4")
    entries = [LexiconEntry(word, vector, entity_id=word) for word, vector in zip(WORDS, vectors)]
    Lexicon.from_entries(entries).save(folder / "lexicon")
    return folder


@pytest.mark.parametrize(("task", "shortest"), [("ner", 1), ("words", 1), ("joint", 1), ("spans", 2)])
def test_soft_lexicon_reads_words_of_one_character(task, shortest):
    config = make_config("soft_lexicon", task)
    assert config["components"]["lex_matcher"]["min_length"] == shortest
    assert make_config("flat", task)["components"]["lex_matcher"]["min_length"] == 2


@pytest.mark.parametrize("task", [task.value for task in Task])
@pytest.mark.parametrize("encoder", [encoder.value for encoder in Encoder])
def test_every_pair_trains(encoder, task, data, tmp_path):
    assert run(tmp_path / "config.cfg", "--encoder", encoder, "--task", task).exit_code == 0
    config = Config().from_disk(tmp_path / "config.cfg", interpolate=False)
    last = config["nlp"]["pipeline"][-1]
    holder = "components.tok2vec.model" if task == "joint" else f"components.{last}.model.tok2vec"
    overrides = {f"{holder}.{name}": value for name, value in SMALL[encoder].items()}
    overrides.update({f"paths.{name}": str(data / "texts.spacy") for name in ("train", "dev")})
    if "lexicon" in config["paths"]:
        overrides["paths.lexicon"] = str(data / "lexicon")
    assert ("lexicon" in config["paths"]) == (encoder not in ("bert", "elmo"))
    overrides.update({"training.max_steps": 2, "training.eval_frequency": 1})
    train(tmp_path / "config.cfg", tmp_path / "out", overrides=overrides)
    nlp = spacy.load(tmp_path / "out" / "model-last")
    assert nlp.pipe_names == config["nlp"]["pipeline"]
    assert nlp("武汉市长江大桥").text == "武汉市长江大桥"


@pytest.mark.parametrize("pair", PAIRS)
def test_a_measured_pair_is_its_base_completed(pair):
    assert make_config(*pair).to_str() == filled(PAIRS[pair]).to_str()


def test_what_to_do_next(tmp_path):
    out = tmp_path / "new" / "config.cfg"
    result = run(out, "-e", "ernie", "-t", "words", "--gpu")
    command = f"python -m spacy train {out} --output training --paths.train train.spacy --paths.dev dev.spacy"
    assert result.stdout.splitlines()[-1] == f"{command} --paths.lexicon my_lexicon --gpu-id 0"
    assert "entity vectors" in result.stdout and "my_train.conllu" in result.stdout
    config = Config().from_disk(out, interpolate=False)
    assert config["components"]["lex_segmenter"]["model"]["tok2vec"]["mixed_precision"]
    assert "lexicon" not in run(tmp_path / "bert.cfg", "-e", "bert").stdout


@pytest.mark.parametrize("base", ["flat_bert", "pretrain_small", "elmo_ner"])
def test_a_base_by_its_name_or_its_path(base, tmp_path):
    assert run(tmp_path / "name.cfg", "--base", base).exit_code == 0
    assert run(tmp_path / "path.cfg", "--base", CONFIGS / f"{base}.cfg").exit_code == 0
    written = [(tmp_path / name).read_text("utf8") for name in ("name.cfg", "path.cfg")]
    assert written == [filled(base).to_str()] * 2


def test_standard_output_holds_the_config_alone():
    config = Config().from_str(run("-", "--encoder", "bert").stdout, interpolate=False)
    assert config["nlp"]["pipeline"] == ["lex_ner"]
    assert config["components"]["lex_ner"]["model"]["tok2vec"]["adapter_layers"] == []


def test_a_file_is_replaced_on_purpose_only(tmp_path):
    out = tmp_path / "config.cfg"
    out.write_text("mine", "utf8")
    refused = run(out)
    assert refused.exit_code == 1 and "--force" in refused.stdout and out.read_text("utf8") == "mine"
    assert run(out, "--force").exit_code == 0 and out.read_text("utf8") != "mine"


@pytest.mark.parametrize("task", ["ner", "joint"])
@pytest.mark.parametrize("encoder", ["lebert", "bert", "ernie"])
def test_a_checkpoint_brings_its_rates_and_its_width(encoder, task, tmp_path):
    BertConfig(hidden_size=48).save_pretrained(tmp_path)
    config = make_config(encoder, task, checkpoint=str(tmp_path))
    assert config["paths"]["checkpoint"] == str(tmp_path)
    optimizer = config["training"]["optimizer"]
    assert optimizer["learn_rate"]["initial_rate"] == 0.0001
    assert optimizer["groups"]["encoder"]["learn_rate_factor"] == 0.1
    if task == "joint":
        assert config["components"]["lex_ner"]["model"]["tok2vec"]["width"] == 48


@pytest.mark.parametrize("task", ["ner", "joint"])
def test_an_elmo_checkpoint_is_frozen(task, fixtures_dir, tmp_path):
    import_elmo(fixtures_dir / "elmo" / "options.json", fixtures_dir / "elmo" / "weights.hdf5", tmp_path / "elmo")
    config = make_config("elmo", task, checkpoint=str(tmp_path / "elmo"))
    model = config["components"]["tok2vec" if task == "joint" else "lex_ner"]["model"]
    assert (model if task == "joint" else model["tok2vec"])["freeze"]
    assert set(config["training"]["optimizer"]["groups"]) == {"no_decay"}
    nlp = spacy.util.load_model_from_config(config)
    if task == "joint":
        tok2vec = nlp.get_pipe("tok2vec").model
        tok2vec.initialize(X=[nlp.make_doc("长江")])
        assert tok2vec.get_dim("nO") == config["components"]["lex_ner"]["model"]["tok2vec"]["width"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--encoder", "flat", "--checkpoint", "bert-base-chinese"), "FLAT has no checkpoint"),
        (("--encoder", "soft_lexicon", "--checkpoint", "bert-base-chinese"), "SoftLexicon has no checkpoint"),
        (("--encoder", "bert", "--task", "joint", "--checkpoint", "/nowhere"), "cannot be read"),
        (("--base", "flat", "--encoder", "flat", "--gpu"), "leave out --encoder, --gpu"),
        (("--base", "nothing"), "Choose one of baseline, elmo,"),
        (("--encoder", "elmo", "--task", "joint", "--checkpoint", "/nowhere"), "import elmo"),
        (("--encoder", "elmo", "--checkpoint", "bert-base-chinese"), "import elmo"),
    ],
)
def test_what_does_not_go_together(arguments, message, tmp_path):
    result = run(tmp_path / "config.cfg", *arguments)
    assert result.exit_code == 1 and message in " ".join(result.stdout.split())
    assert not (tmp_path / "config.cfg").exists()


def test_an_unknown_encoder(tmp_path):
    assert run(tmp_path / "config.cfg", "--encoder", "gpt").exit_code == 2


def test_a_base_with_the_users_code(tmp_path):
    (tmp_path / "mine.py").write_text(
        'from spacy.language import Language\nLanguage.component("only_mine", func=lambda doc: doc)\n', "utf8"
    )
    (tmp_path / "base.cfg").write_text(
        '[nlp]\nlang = "zh"\npipeline = ["only_mine"]\n[components]\nonly_mine = {"factory":"only_mine"}\n', "utf8"
    )
    arguments = [tmp_path / "full.cfg", "--base", tmp_path / "base.cfg"]
    assert run(*arguments).exit_code == 1
    assert run(*arguments, "--code", tmp_path / "mine.py").exit_code == 0
    assert Config().from_disk(tmp_path / "full.cfg")["nlp"]["pipeline"] == ["only_mine"]
