"""The command with a user's config. What it measures is tested with bilm_perplexity."""

import json

import pytest
from spacy.language import DEFAULT_CONFIG_PRETRAIN_PATH
from spacy.training.pretrain import pretrain
from spacy.util import load_config, load_model_from_config
from thinc.api import Config
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.cli.model.make_config import BASES
from spacy_lexner.encoders.elmo.counted_words import write_counted_words

CONFIG = """
[paths]
words = null
text = null

[nlp]
lang = "zh"
pipeline = ["tok2vec"]

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy-lexner.ELMo.v1"
unit = "byte"
embedding_dim = 4
filters = [[1, 4], [3, 4]]
projection_dim = 6
cell_dim = 8

[corpora]

[corpora.pretrain]
@readers = "spacy-lexner.TextCorpus.v1"
path = ${paths.text}

[training]
seed = 0
gpu_allocator = null

[pretraining]
max_epochs = 1
dropout = 0.1
n_save_every = null
n_save_epoch = null
component = "tok2vec"
layer = ""
corpus = "corpora.pretrain"

[pretraining.objective]
@architectures = "spacy-lexner.PretrainBiLM.v1"
words = ${paths.words}
log_every = 0
progress_bar = false

[pretraining.batcher]
@batchers = "spacy-lexner.batch_by_padded_tokens.v1"
max_tokens = 128

[pretraining.optimizer]
@optimizers = "Adam.v1"

[initialize]
init_tok2vec = null
"""


@pytest.fixture
def trained(tmp_path):
    filled = load_model_from_config(Config().from_str(CONFIG, interpolate=False), auto_fill=True).config
    load_config(DEFAULT_CONFIG_PRETRAIN_PATH).merge(filled).to_disk(tmp_path / "config.cfg")
    (tmp_path / "text.txt").write_text("南京市长江大桥\n大桥在南京\n", "utf8")
    write_counted_words([("南", 2), ("京", 2), ("大", 2), ("桥", 2)], tmp_path / "words.tsv")
    overrides = {"paths.words": str(tmp_path / "words.tsv"), "paths.text": str(tmp_path / "text.txt")}
    pretrain(load_config(tmp_path / "config.cfg", overrides=overrides, interpolate=True), tmp_path)
    return tmp_path


def run(folder, *arguments):
    words = ["--paths.words", str(folder / "words.tsv"), "--paths.text", str(folder / "text.txt")]
    command = ["perplexity", str(folder / "config.cfg"), str(folder / "model-last.bin"), *words]
    return CliRunner().invoke(lexner, [*command, *map(str, arguments)])


def test_figures(trained):
    result = run(trained, "--text", trained / "text.txt", "--json")
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout.splitlines()[-1])
    assert figures["tokens"] == figures["characters"] == 12 and figures["unknown"] == round(4 / 12, 5)
    assert 1 < figures["perplexity"] < 12
    (trained / "code.py").write_text("print('code runs')")
    result = run(trained, "--text", trained / "text.txt", "--code", trained / "code.py")
    assert "bits_per_character" in result.output and "code runs" in result.output


@pytest.mark.parametrize(
    "name, problem", [("pretrain_elmo", "no section training, initialize"), ("flat", "no [pretraining]")]
)
def test_a_config_that_is_not_that_of_a_run(tmp_path, name, problem):
    command = ["perplexity", str(BASES / f"{name}.cfg"), str(tmp_path / "model.bin"), "--text", str(tmp_path)]
    result = CliRunner().invoke(lexner, command)
    assert result.exit_code == 1 and problem in " ".join(result.output.split())


def test_errors_without_a_traceback(trained):
    result = run(trained, "--text", trained / "missing.txt")
    assert result.exit_code == 1 and "Nothing was measured" in result.output
    (trained / "model-last.bin").write_bytes(b"no model")
    result = run(trained, "--text", trained / "text.txt")
    assert result.exit_code == 1 and "is not a model file" in " ".join(result.output.split())
