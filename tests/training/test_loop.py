"""A training interrupted anywhere and resumed gives the same weights as one that was not."""

import json
import os
import shutil

import pytest
import spacy
import srsly
from kills import kill_again_and_again
from small_encoders import GOLD, small_lexicon, tagger
from spacy.cli.train import train as spacy_train
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import Config
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.integrity.pipelines import seal_folder, verify_pipeline
from spacy_lexner.lexicon import LexiconEntry
from spacy_lexner.training.digests import DocDigest

CONFIG = """
[paths]
train = null
dev = null
lexicon = null
[system]
seed = 1
[nlp]
lang = "zh"
pipeline = ["lex_matcher", "lex_ner"]
[components]
[components.lex_matcher]
factory = "lex_matcher"
[components.lex_ner]
factory = "lex_ner"
threshold = 0.0
[corpora]
[corpora.train]
@readers = "spacy.Corpus.v1"
path = ${paths.train}
[corpora.train.augmenter]
@augmenters = "spacy-lexner.join_texts.v1"
rate = 0.5
[corpora.dev]
@readers = "spacy.Corpus.v1"
path = ${paths.dev}
[training]
seed = ${system.seed}
dropout = 0.2
max_steps = 13
eval_frequency = 4
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
[training.batcher]
@batchers = "spacy-lexner.batch_by_padded_tokens.v1"
max_tokens = 24
[training.optimizer]
@optimizers = "spacy-lexner.GroupedAdamW.v1"
use_averages = true
[training.optimizer.learn_rate]
@schedules = "spacy-lexner.warmup_linear.v1"
initial_rate = 0.01
total_steps = 13
warmup_steps = 3
[initialize]
[initialize.components]
[initialize.components.lex_matcher]
[initialize.components.lex_matcher.lexicon]
@readers = "spacy-lexner.LexiconFolder.v1"
path = ${paths.lexicon}
"""
LEARNED = "lex_ner/model"
N_KILLS = 100
BATCHER = "--training.batcher"
MISTAKES = [
    ["--paths.dev", "missing.spacy"],
    [f"{BATCHER}.discard_oversize", "true", f"{BATCHER}.max_tokens", "1", "--training.max_epochs", "1"],  # no batch
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    nlp = spacy.blank("zh")
    docs = [Example.from_dict(nlp.make_doc(text), {"entities": entities}).reference for text, entities in GOLD * 2]
    DocBin(docs=docs).to_disk(folder / "train.spacy")
    small_lexicon().save(folder / "lexicon")
    return folder


@pytest.fixture(params=["FLAT", "LEBERT", "ensemble"])
def config(request, data, tmp_path):
    paths = {"train": "train.spacy", "dev": "train.spacy", "lexicon": "lexicon"}
    config = Config().from_str(CONFIG, interpolate=False)
    config["paths"].update({name: str(data / file) for name, file in paths.items()})
    config["components"]["lex_ner"]["model"] = tagger(request.param)
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.config.to_disk(tmp_path / "config.cfg")
    return tmp_path / "config.cfg"


def train(config, output, *arguments):
    result = CliRunner().invoke(lexner, ["train", str(config), "--output", str(output), *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, (SystemExit, Stopped)), result.exception
    return result.exit_code, " ".join(result.output.split())


def weights(output):
    return [(output / name / LEARNED).read_bytes() for name in ("model-best", "model-last")]


class Stopped(Exception):
    pass


@pytest.fixture
def stop_at(monkeypatch):
    """Make updates fail after this many of them."""

    def set_limit(n_updates):
        count = iter(range(n_updates))
        update = spacy.language.Language.update

        def stopped(self, *args, **kwargs):
            if next(count, None) is None:
                raise Stopped
            return update(self, *args, **kwargs)

        monkeypatch.setattr(spacy.language.Language, "update", stopped)

    yield set_limit


def test_a_resumed_training_gives_the_same_weights(config, tmp_path, stop_at, monkeypatch):
    code, output = train(config, tmp_path / "whole")
    assert code == 0, output
    spacy_train(config, tmp_path / "spacy")
    assert weights(tmp_path / "whole") == weights(tmp_path / "spacy")
    for n_updates in (7, 6, 3):  # the second and the third time after the checkpoint of a resumed run
        stop_at(n_updates)
        assert train(config, tmp_path / "resumed", "--resume")[0] == 1
        monkeypatch.undo()
    code, output = train(config, tmp_path / "resumed", "--resume")
    assert code == 0 and "Resuming after step 8" in output
    assert weights(tmp_path / "resumed") == weights(tmp_path / "whole")
    metas = [srsly.read_json(tmp_path / name / "model-last" / "meta.json") for name in ("whole", "resumed", "spacy")]
    assert metas[0]["performance"] == metas[1]["performance"] == metas[2]["performance"]
    for name in ("model-best", "model-last"):
        assert list(verify_pipeline(tmp_path / "resumed" / name)) == []
    assert sorted(path.name for path in (tmp_path / "resumed").iterdir()) == ["model-best", "model-last"]


@pytest.mark.parametrize("config", ["FLAT"], indirect=True)
def test_what_is_not_the_same_training_is_refused(config, data, tmp_path, stop_at, monkeypatch):
    stop_at(6)
    train(config, tmp_path / "out")
    monkeypatch.undo()
    code, output = train(config, tmp_path / "out", "--resume", "--training.dropout", "0.25")
    assert code == 1 and "training.dropout = 0.25 (was 0.2)" in output
    state = tmp_path / "out" / "checkpoint" / "state.json"
    original = state.read_text()
    state.write_text(original.replace('"step":4', '"step":3'))
    code, output = train(config, tmp_path / "out", "--resume")
    assert code == 1 and "state.json: its SHA-256" in output and "delete the checkpoint" in output
    assert "lexner seal" not in output
    (tmp_path / "out" / "checkpoint" / "seal.json").rename(tmp_path / "seal.json")
    code, output = train(config, tmp_path / "out", "--resume")
    assert code == 1 and "not a checkpoint, or an incomplete one" in output and "delete the checkpoint" in output
    (tmp_path / "seal.json").rename(tmp_path / "out" / "checkpoint" / "seal.json")
    state.write_text(original)
    (tmp_path / "out" / "model-best").rename(tmp_path / "moved")
    code, output = train(config, tmp_path / "out", "--resume")
    assert code == 1 and "the best model so far" in output and "is gone. Put it back" in output
    (tmp_path / "moved").rename(tmp_path / "out" / "model-best")
    assert train(config, tmp_path / "out")[0] == 0  # without --resume everything starts again


@pytest.fixture
def interrupted(config, data, tmp_path, stop_at, monkeypatch):
    """An interrupted training, with copies of the data, and its arguments."""
    files = {"train": tmp_path / "train.spacy", "dev": tmp_path / "dev.spacy", "lexicon": tmp_path / "lexicon"}
    for name in ("train", "dev"):
        shutil.copy(data / "train.spacy", files[name])
    small_lexicon().save(files["lexicon"])
    arguments = [part for name, path in files.items() for part in (f"--paths.{name}", path)]
    stop_at(6)
    train(config, tmp_path / "out", *arguments)
    monkeypatch.undo()
    return files, lambda: train(config, tmp_path / "out", *arguments, "--resume")


def other_docs(path):
    """The same texts without annotation."""
    vocab = spacy.blank("zh").vocab
    docs = [Doc(vocab, words=[token.text for token in doc]) for doc in DocBin().from_disk(path).get_docs(vocab)]
    DocBin(docs=docs).to_disk(path)


def other_lexicon(path):
    small_lexicon().with_words([LexiconEntry("新词")]).save(path, overwrite=True)


DATA = {
    "lexicon": (other_lexicon, "{lexicon}"),
    "dev": (other_docs, "corpora.dev"),
    "train": (other_docs, "other training texts: its first 5 batches"),
    "missing": (lambda path: path.unlink(), "No such file or directory: '{train}'"),
}


@pytest.mark.parametrize("config", ["FLAT"], indirect=True)
def test_other_data_are_refused(interrupted, tmp_path):
    files, resume = interrupted
    for name, (change, message) in DATA.items():
        path = files.get(name, files["train"])
        move = shutil.copytree if path.is_dir() else shutil.copy
        move(path, tmp_path / f"{name}.kept")
        change(path)
        code, output = resume()
        assert code == 1 and message.format(**files) in output
        assert name == "missing" or "delete that folder, or leave out --resume" in output
        if path.is_dir():
            shutil.rmtree(path)
        shutil.move(tmp_path / f"{name}.kept", path)
    shutil.rmtree(files["lexicon"])  # it is in the checkpoint, and there is no other that could be meant
    assert resume()[0] == 0


@pytest.mark.parametrize("config", ["FLAT"], indirect=True)
def test_a_checkpoint_of_an_older_version(config, request, tmp_path, monkeypatch):
    """It has no digests of files and dev texts, and that of its batches covers only entities."""
    monkeypatch.setattr(DocDigest, "_add_annotation", DocDigest._add_entities)
    _, resume = request.getfixturevalue("interrupted")  # which also undoes this
    folder = tmp_path / "out" / "checkpoint"
    state = json.loads((folder / "state.json").read_text("utf8"))
    del state["inputs"], state["place"]["entities_only"]
    (folder / "state.json").write_text(json.dumps(state), "utf8")
    seal_folder(folder)
    code, output = resume()
    assert code == 0 and "Resuming after step 4" in output
    train(config, tmp_path / "whole")
    assert weights(tmp_path / "out") == weights(tmp_path / "whole")


@pytest.mark.parametrize("config", ["FLAT"], indirect=True)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_training_that_fails_at_once_changes_nothing(config, tmp_path, stop_at, monkeypatch, mistake):
    stop_at(6)
    train(config, tmp_path / "out")
    monkeypatch.undo()
    files = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {path.relative_to(tmp_path / "out").parts[0] for path in files} == {"checkpoint", "model-best", "model-last"}
    result = CliRunner().invoke(lexner, ["train", str(config), "--output", str(tmp_path / "out"), *mistake])
    assert result.exit_code == 1
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == files


@pytest.mark.parametrize("config", ["FLAT"], indirect=True)
def test_models_of_an_earlier_training_are_replaced_at_the_first_evaluation(config, tmp_path, stop_at):
    out = tmp_path / "out"
    assert train(config, out, "--training.max_steps", "1")[0] == 0
    for name in ("model-best", "model-last"):
        (out / name / LEARNED).write_bytes(b"old")
    stop_at(2)
    code, output = train(config, out, "--resume")
    assert code == 1 and "training starts again, and will replace the models" in output
    assert b"old" not in weights(out) and (out / "checkpoint").exists()


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.skipif(os.name != "posix", reason="processes are killed by a signal")
@pytest.mark.parametrize("config", ["FLAT", "LEBERT"], indirect=True)
def test_killed_at_any_moment(config, tmp_path):
    """What is saved loads, and a training resumed any number of times ends like one that was not killed."""

    def work(name):
        def run():
            code, printed = train(config, tmp_path / name, "--resume")
            assert code == 0, printed

        return run

    work("imports")()  # imports before forking
    for name, done in kill_again_and_again(work, N_KILLS):
        output = tmp_path / name
        for model in output.glob("model-*"):
            assert list(verify_pipeline(model)) == []
            spacy.load(model)
        if done:
            assert weights(output) == weights(tmp_path / "whole")
            assert sorted(path.name for path in output.iterdir()) == ["model-best", "model-last"]
            shutil.rmtree(output)
