"""A process that is killed while it saves a pipeline leaves the old one or the new one, and the next one cleans up."""

import os
import random
import shutil

import pytest
import spacy
from kills import kill_again_and_again, run_killed, timed
from small_encoders import make_pipeline
from small_ner import TEXTS, blank, examples, found, train
from small_training import PLACES, make_texts, save_config
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.integrity.pipelines import save, verify_pipeline

N_KILLS = [6, pytest.param(100, marks=pytest.mark.slow)]
N_LEARNING = 100
pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="processes are killed by a signal"),
    pytest.mark.timeout(900),
]


def pipeline(steps):
    nlp = blank()
    nlp.add_pipe("lex_matcher", first=True).add_words(["北京大学", "复旦大学"])
    train(nlp, steps=steps)
    return nlp


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name, steps in (("old", 1), ("a", 25), ("b", 20)):
        save(pipeline(steps), folder / name)
    save(make_pipeline("LEBERT"), folder / "bert")
    nlp = spacy.load(folder / "a")
    DocBin(docs=[example.reference for example in examples(nlp)]).to_disk(folder / "dev.spacy")
    return folder


def run(*arguments):
    result = CliRunner().invoke(lexner, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output


def answers(folder):
    assert list(verify_pipeline(folder)) == []
    nlp = spacy.load(folder)
    return [
        (found(doc), [round(ent._.lex_score, 6) for ent in doc.ents]) for doc in nlp.pipe(text for text, _ in TEXTS)
    ]


@pytest.mark.parametrize("n_kills", N_KILLS)
@pytest.mark.parametrize("command", ["save", "combine", "calibrate", "quantize"])
def test_killed_while_saving(files, tmp_path, command, n_kills):
    if command == "quantize":
        pytest.importorskip("torchao")
    target, old = tmp_path / "model", spacy.load(files / "old")
    nlp = spacy.load(files / "a")
    change = {
        "save": lambda: save(nlp, target),
        "combine": lambda: run("combine", files / "a", files / "b", "-o", target, "--force"),
        "calibrate": lambda: run("calibrate", files / "a", files / "dev.spacy", "-o", target, "--force"),
        "quantize": lambda: run("quantize", files / "bert", target, "--force"),
    }[command]
    save(old, target)
    before = answers(target)
    seconds = timed(change)
    after = answers(target)
    assert before != after
    generator = random.Random(0)
    for _ in range(n_kills):
        save(old, target)
        assert [path.name for path in tmp_path.iterdir()] == ["model"]
        done = run_killed(change, 1.2 * seconds, generator)
        assert answers(target) in ([after] if done else [before, after])


@pytest.fixture(scope="module")
def texts(files):
    (files / "words.tsv").write_text("".join(f"{place}\tforce\tLOC\n" for place in PLACES[::2]), "utf8")
    (files / "texts.txt").write_text("\n".join(text for text, _ in make_texts(60)), "utf8")
    save_config(files / "config.cfg", training__max_steps=4, training__eval_frequency=2)
    return files


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("command", ["weak", "distil"])
def test_killed_while_learning(texts, tmp_path, command):
    """An existing pipeline is complete, and the same command resumes to the same result."""
    first = {"weak": "words.tsv", "distil": "a"}[command]
    options = {"weak": ["--rounds", 1, "--ratio", 0.2, "--held-out", 0.4], "distil": []}[command]

    def learn(output):
        inputs = [texts / first, texts / "texts.txt", tmp_path / output]
        return lambda: run(command, *inputs, "-c", texts / "config.cfg", *options)

    def model(output):
        assert list(verify_pipeline(tmp_path / output / "model")) == []
        return (tmp_path / output / "model" / "lex_ner" / "model").read_bytes()

    learn("imports")()  # imports before forking
    for name, done in kill_again_and_again(learn, N_LEARNING):
        if done or (tmp_path / name / "model").exists():
            assert model(name) == model("whole")
        if done:
            assert tree(tmp_path / name) == tree(tmp_path / "whole")
            shutil.rmtree(tmp_path / name)


def tree(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*"))
