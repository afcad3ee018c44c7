import json
import re

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.cli.model.report import read_map


def run(*arguments):
    result = CliRunner().invoke(lexner, ["report", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(re.sub("\x1b.*?m", "", result.output).split())


@pytest.fixture
def model(tmp_path):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京市"])
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "CITY", "pattern": "南京"}])
    (tmp_path / "ruler").mkdir()
    nlp.to_disk(tmp_path / "ruler" / "model-best")
    return tmp_path / "ruler" / "model-best"


@pytest.fixture
def corpus(tmp_path):
    nlp = spacy.blank("zh")
    docs = [nlp(text) for text in ("在南京", "王明", "南京好")]
    for doc, ents in zip(docs, ([doc.char_span(1, 3, "GPE")] for doc in docs[:1])):
        doc.set_ents(ents)
    docs[1].set_ents([docs[1].char_span(0, 2, "PER")])
    docs[2].set_ents([docs[2].char_span(0, 2, "GPE")])
    DocBin(docs=docs).to_disk(tmp_path / "test.spacy")
    DocBin(docs=docs[1:2]).to_disk(tmp_path / "train.spacy")
    return tmp_path / "test.spacy"


def test_report(model, corpus, tmp_path):
    output = tmp_path / "new" / "report.html"
    options = ["--train", tmp_path / "train.spacy", "--lexicon-off", "--map", "CITY=GPE", "--compare", "peer=blank:zh"]
    code, printed = run(model, corpus, *options, "--samples", 20, "--output", output)
    assert code == 0, printed
    assert "ruler 100.0 66.7 80.0 0.0 100.0" in printed and "peer – 0.0 0.0" in printed
    figures = json.loads(output.with_suffix(".json").read_text("utf8"))
    assert list(figures["models"]) == ["ruler", "ruler, lexicon emptied", "peer"]
    assert figures["models"]["ruler"]["labels"]["GPE"]["f"] == 1.0
    page = output.read_text("utf8")
    assert (
        page.startswith("<!DOCTYPE html>")
        and "how much it depends on them" in page
        and "worth" not in figures["lexicon"]
    )
    assert "Lexicon emptied: +0.0 F depend on it" in printed


def test_limits(model, corpus, tmp_path):
    options = ["--limit", 1, "--worst", 0, "--samples", 5, "--output", tmp_path / "report.html"]
    assert run(f"mine={model}", corpus, *options)[0] == 0
    figures = json.loads((tmp_path / "report.json").read_text("utf8"))
    assert figures["corpus"]["texts"] == 1 and figures["models"]["mine"]["worst"] == []


def test_renamed_labels_that_there_are_not(model, corpus, tmp_path):
    options = ["--samples", 5, "--output", tmp_path / "report.html", "--map"]
    code, printed = run(model, corpus, *options, "CTY=GPE")
    assert code == 0 and "--map CTY=GPE: no model predicts CTY The labels there are: CITY" in printed
    code, printed = run(model, corpus, *options, "CITY=LOC")
    assert "--map CITY=LOC: no text is annotated with LOC The labels there are: GPE, PER" in printed
    code, printed = run(model, corpus, *options, "CITY=GPE", "--compare", "peer=blank:zh")
    assert code == 0 and "--map" not in printed


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["blank:zh", "{corpus}", "--map", "A=B", "--map", "A=C"], "--map A=C: A is already renamed to B"),
        (["no_such_model", "{corpus}"], "no_such_model"),
        (["blank:zh", "{folder}/none.spacy"], "No .spacy file"),
        (["blank:zh", "{corpus}", "--train", "{folder}/none.spacy"], "No .spacy file"),
        (["blank:zh", "{corpus}", "--compare", "blank:zh"], "Two models have the name 'blank:zh'"),
        (["blank:zh", "{corpus}", "--map", "PERSON"], "expected an old and a new label"),
        (["blank:zh", "{corpus}", "--output", "report.pdf"], "give an .html file"),
    ],
)
def test_errors(corpus, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, output = run(*(argument.format(corpus=corpus, folder=tmp_path) for argument in arguments))
    assert code == 1 and message in output and not list(tmp_path.glob("report.*"))


def test_what_cannot_be_written_is_told_before_models_run(corpus, tmp_path):
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "file").touch()
    code, output = run("no_such_model", corpus, "--output", tmp_path / "folder.html")
    assert code == 1 and "is a folder. Give the .html file to write." in output
    code, output = run("no_such_model", corpus, "--output", tmp_path / "file" / "report.html")
    assert code == 1 and "no_such_model" not in output


@pytest.mark.parametrize("size", [0, -1])
def test_batch_size(corpus, tmp_path, size):
    code, output = run("blank:zh", corpus, "--batch-size", size, "--output", tmp_path / "report.html")
    assert code == 2 and "--batch-size" in output and not list(tmp_path.glob("report.*"))


def test_labels():
    assert read_map(["PERSON=PER", "A=B=C"]) == {"PERSON": "PER", "A": "B=C"}


def test_help():
    code, output = run("--help")
    assert code == 0 and "python -m spacy lexner report training/model-best corpus/test.spacy" in output


def test_the_worth_of_words(model, corpus, tmp_path):
    options = ["--map", "CITY=GPE", "--samples", 5, "--output", tmp_path / "report.html"]
    code, printed = run(model, corpus, *options, "--without-words", "blank:zh")
    assert code == 0 and "Words are worth +80.0 F, compared with the model trained without any." in printed
    figures = json.loads((tmp_path / "report.json").read_text("utf8"))
    assert list(figures["models"]) == ["ruler", "ruler, trained without words"] and list(figures["lexicon"]) == [
        "worth"
    ]
    assert "What they bring is the difference" in (tmp_path / "report.html").read_text("utf8")
    assert run("blank:zh", corpus, *options, "--without-words", model)[0] == 1
